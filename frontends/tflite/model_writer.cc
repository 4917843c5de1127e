#include "frontends/tflite/model_writer.h"

#include <algorithm>
#include <cstring>
#include <map>

#include "core/base/contains.h"
#include "core/base/error.h"
#include "core/base/numbers.h"
#include "frontends/tflite/operator_table.h"
#include "frontends/tflite/reader.h"
#include "frontends/tflite/schema_generated.h"

namespace hearth {
namespace {

using Builder = flatbuffers::FlatBufferBuilder;

constexpr size_t kConstantAlignment = 64;        // a cache line
constexpr size_t kLargestFlatbuffer = 1U << 30;  // offsets have 31 bits

// The positions of the constants in the file.
struct Layout {
  std::vector<uint64_t> offsets;  // by tensor; at least 2, because 0 and 1 mean something else
  uint64_t size_bytes = 0;
  uint64_t left_out_bytes = 0;  // constants written as zeros, each counted once
};

Layout PlaceConstants(const ModelToWrite& model, size_t flatbuffer_bytes, size_t most_copied_bytes) {
  Layout layout{std::vector<uint64_t>(model.tensors.size(), 2), RoundUp(flatbuffer_bytes, kConstantAlignment)};
  std::map<std::pair<const std::byte*, size_t>, uint64_t> placed;
  size_t zeros_bytes = 0;
  for (size_t k = 0; k < model.tensors.size(); ++k) {
    const std::span<const std::byte> data = model.tensors[k].data;
    if (data.size() > most_copied_bytes) {
      zeros_bytes = std::max(zeros_bytes, data.size());
      if (placed.emplace(std::pair(data.data(), data.size()), 0).second) layout.left_out_bytes += data.size();
    } else if (!data.empty()) {
      const auto [place, is_first] = placed.emplace(std::pair(data.data(), data.size()), layout.size_bytes);
      layout.offsets[k] = place->second;
      if (is_first) layout.size_bytes += RoundUp(data.size(), kConstantAlignment);
    }
  }
  for (size_t k = 0; k < model.tensors.size(); ++k) {
    if (model.tensors[k].data.size() > most_copied_bytes) layout.offsets[k] = layout.size_bytes;
  }
  layout.size_bytes += zeros_bytes;
  return layout;
}

flatbuffers::Offset<wire::SparsityParameters> WriteSparsity(Builder& builder, const SparsityToWrite& sparsity) {
  std::vector<flatbuffers::Offset<wire::DimensionMetadata>> levels;
  for (const SparseLevelToWrite& level : sparsity.levels) {
    if (level.segments.empty()) {
      levels.push_back(wire::CreateDimensionMetadata(builder, wire::DimensionType_DENSE, level.dense_size));
      continue;
    }
    const auto segments = wire::CreateInt32Vector(builder, builder.CreateVector(level.segments));
    const auto indices = wire::CreateInt32Vector(builder, builder.CreateVector(level.indices));
    levels.push_back(wire::CreateDimensionMetadata(builder, wire::DimensionType_SPARSE_CSR, 0,
                                                   wire::SparseIndexVector_Int32Vector, segments.Union(),
                                                   wire::SparseIndexVector_Int32Vector, indices.Union()));
  }
  const auto order = builder.CreateVector(sparsity.traversal_order);
  const auto blocks = builder.CreateVector(sparsity.block_map);
  return wire::CreateSparsityParameters(builder, order, blocks, builder.CreateVector(levels));
}

// -1 for each dimension: the reader takes the dimensions of `shape` for now. An empty shape stays empty.
flatbuffers::Offset<flatbuffers::Vector<int32_t>> WriteOpenSignature(Builder& builder,
                                                                     const std::vector<int32_t>& shape) {
  std::vector<int32_t> signature;
  for (const int32_t dim : shape) signature.push_back(dim > 0 ? -1 : dim);
  return builder.CreateVector(signature);
}

flatbuffers::Offset<wire::Tensor> WriteTensor(Builder& builder, const TensorToWrite& tensor, uint32_t buffer) {
  flatbuffers::Offset<wire::QuantizationParameters> quantization;
  if (!tensor.scales.empty()) {
    const auto scales = builder.CreateVector(tensor.scales);
    const auto zero_points = builder.CreateVector(tensor.zero_points);
    quantization = wire::CreateQuantizationParameters(builder, scales, zero_points, wire::QuantizationDetails_NONE, 0,
                                                      tensor.quantized_dimension);
  }
  flatbuffers::Offset<wire::SparsityParameters> sparsity;
  if (tensor.sparsity) sparsity = WriteSparsity(builder, *tensor.sparsity);
  const auto shape = builder.CreateVector(tensor.shape);
  flatbuffers::Offset<flatbuffers::Vector<int32_t>> signature;
  if (tensor.is_open) signature = WriteOpenSignature(builder, tensor.shape);
  const auto name = builder.CreateString(tensor.name);
  return wire::CreateTensor(builder, shape, static_cast<wire::TensorType>(tensor.type), buffer, name, quantization,
                            tensor.is_variable, sparsity, signature);
}

// Writes the fields by number: the table's type is known only at run time.
flatbuffers::Offset<void> WriteOptions(Builder& builder, const std::vector<OptionToWrite>& options) {
  std::vector<flatbuffers::Offset<flatbuffers::Vector<int32_t>>> lists(options.size());
  for (size_t k = 0; k < options.size(); ++k) {
    if (options[k].kind == OptionToWrite::Kind::kInt32List) lists[k] = builder.CreateVector(options[k].list);
  }
  const auto start = builder.StartTable();
  for (size_t k = 0; k < options.size(); ++k) {
    const OptionToWrite& option = options[k];
    const flatbuffers::voffset_t field = flatbuffers::FieldIndexToOffset(option.field);
    switch (option.kind) {
      case OptionToWrite::Kind::kByte: builder.AddElement<int8_t>(field, static_cast<int8_t>(option.number)); break;
      case OptionToWrite::Kind::kInt32: builder.AddElement<int32_t>(field, option.number); break;
      case OptionToWrite::Kind::kFloat: builder.AddElement<float>(field, option.real); break;
      case OptionToWrite::Kind::kInt32List: builder.AddOffset(field, lists[k]); break;
    }
  }
  return {builder.EndTable(start)};
}

flatbuffers::Offset<wire::Operator> WriteOperator(Builder& builder, const OperatorToWrite& op, uint32_t code) {
  const auto inputs = builder.CreateVector(op.inputs);
  const auto outputs = builder.CreateVector(op.outputs);
  flatbuffers::Offset<void> options;
  if (op.options_type != 0) options = WriteOptions(builder, op.options);
  flatbuffers::Offset<flatbuffers::Vector<uint8_t>> custom;
  if (!op.custom_options.empty()) {
    custom = builder.CreateVector(reinterpret_cast<const uint8_t*>(op.custom_options.data()), op.custom_options.size());
  }
  return wire::CreateOperator(builder, code, inputs, outputs, static_cast<wire::BuiltinOptions>(op.options_type),
                              options, custom);
}

void BuildFlatbuffer(const ModelToWrite& model, const std::vector<uint64_t>& offsets, Builder& builder) {
  std::vector<flatbuffers::Offset<wire::Buffer>> buffers = {wire::CreateBuffer(builder)};  // buffer 0 is empty
  std::vector<flatbuffers::Offset<wire::Tensor>> tensors;
  for (size_t k = 0; k < model.tensors.size(); ++k) {
    const TensorToWrite& tensor = model.tensors[k];
    const bool is_constant = !tensor.data.empty();
    tensors.push_back(WriteTensor(builder, tensor, is_constant ? static_cast<uint32_t>(buffers.size()) : 0));
    if (is_constant) buffers.push_back(wire::CreateBuffer(builder, 0, offsets[k], tensor.data.size()));
  }
  std::vector<flatbuffers::Offset<wire::OperatorCode>> codes;
  std::vector<flatbuffers::Offset<wire::Operator>> operators;
  for (const OperatorToWrite& op : model.operators) {
    operators.push_back(WriteOperator(builder, op, static_cast<uint32_t>(codes.size())));
    const auto name = op.custom_name.empty() ? 0 : builder.CreateString(op.custom_name);
    codes.push_back(wire::CreateOperatorCode(builder, static_cast<int8_t>(std::min(op.code, 127)), name, op.code));
  }
  const auto tensor_list = builder.CreateVector(tensors);
  const auto inputs = builder.CreateVector(model.inputs);
  const auto outputs = builder.CreateVector(model.outputs);
  const auto operator_list = builder.CreateVector(operators);
  const auto subgraph =
      wire::CreateSubGraph(builder, tensor_list, inputs, outputs, operator_list, builder.CreateString(model.name));
  const auto code_list = builder.CreateVector(codes);
  const auto subgraphs = builder.CreateVector(&subgraph, 1);
  const auto buffer_list = builder.CreateVector(buffers);
  wire::FinishModelBuffer(builder, wire::CreateModel(builder, kSchemaVersion, code_list, subgraphs, buffer_list));
}

}  // namespace

WrittenModel::WrittenModel(size_t size_bytes, size_t file_bytes)
    : data_(static_cast<std::byte*>(std::calloc(size_bytes, 1))),
      size_bytes_(data_ == nullptr ? 0 : size_bytes),
      file_bytes_(std::max(size_bytes_, file_bytes)) {}

Result<WrittenModel> WriteModel(const ModelToWrite& model, size_t most_copied_bytes) {
  // Built twice: the constants' positions depend on the flatbuffer's size, which does not depend on them.
  Builder draft;
  BuildFlatbuffer(model, std::vector<uint64_t>(model.tensors.size(), 2), draft);
  if (draft.GetSize() > kLargestFlatbuffer) {
    return Error(StatusCode::kResourceExhausted, "a network of {} operators and {} tensors is too large to describe",
                 model.operators.size(), model.tensors.size());
  }
  const Layout layout = PlaceConstants(model, draft.GetSize(), most_copied_bytes);
  Builder builder(draft.GetSize());
  BuildFlatbuffer(model, layout.offsets, builder);
  HEARTH_CHECK(builder.GetSize() == draft.GetSize());
  WrittenModel written(layout.size_bytes, layout.size_bytes + layout.left_out_bytes);
  if (written.bytes().empty()) {
    return Error(StatusCode::kResourceExhausted, "no memory for {} bytes of a network's weights", layout.size_bytes);
  }
  std::memcpy(written.bytes().data(), builder.GetBufferPointer(), builder.GetSize());
  for (size_t k = 0; k < model.tensors.size(); ++k) {
    const std::span<const std::byte> data = model.tensors[k].data;
    if (data.empty() || data.size() > most_copied_bytes) continue;
    std::memcpy(written.bytes().data() + layout.offsets[k], data.data(), data.size());
  }
  return written;
}

bool ChangesVariableInput(int32_t code, std::string_view custom_name, size_t input_count, size_t position) {
  const OperatorRow* row = code == kCustomOperator ? FindCustomOperator(custom_name) : FindOperator(code);
  if (row == nullptr) return false;
  return Contains(StateInputs(*row, input_count), position);
}

}  // namespace hearth
