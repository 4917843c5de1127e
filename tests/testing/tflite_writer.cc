#include "tests/testing/tflite_writer.h"

#include <algorithm>
#include <cstring>

namespace hearth {

TfliteWriter::TfliteWriter() {
  buffers_.push_back(wire::CreateBuffer(builder_));  // number 0: by convention the empty one
}

uint32_t TfliteWriter::AddBuffer(std::span<const std::byte> data) {
  builder_.ForceVectorAlignment(data.size(), 1, 16);
  const auto vector = builder_.CreateVector(reinterpret_cast<const uint8_t*>(data.data()), data.size());
  buffers_.push_back(wire::CreateBuffer(builder_, vector));
  return static_cast<uint32_t>(buffers_.size() - 1);
}

uint32_t TfliteWriter::AddBufferOutside(uint64_t offset, uint64_t size) {
  buffers_.push_back(wire::CreateBuffer(builder_, 0, offset, size));
  return static_cast<uint32_t>(buffers_.size() - 1);
}

namespace {

flatbuffers::Offset<wire::DimensionMetadata> WriteLevel(flatbuffers::FlatBufferBuilder& builder,
                                                        const WrittenLevel& level) {
  if (level.segments.empty())
    return wire::CreateDimensionMetadata(builder, wire::DimensionType_DENSE, level.dense_size);
  // One list in 32 bits and one in 8, so that both forms are read.
  const std::vector<uint8_t> narrow(level.indices.begin(), level.indices.end());
  const auto segments = wire::CreateInt32Vector(builder, builder.CreateVector(level.segments));
  if (level.has_unknown_type) {
    // The length of this vector, read as the place of a table's fields, points far outside of the file.
    const auto bytes = builder.CreateVector(std::vector<uint8_t>(1 << 20));
    return wire::CreateDimensionMetadata(builder, wire::DimensionType_SPARSE_CSR, 0,
                                         wire::SparseIndexVector_Int32Vector, segments.Union(),
                                         static_cast<wire::SparseIndexVector>(77), bytes.Union());
  }
  const auto indices = wire::CreateUint8Vector(builder, builder.CreateVector(narrow));
  return wire::CreateDimensionMetadata(builder, wire::DimensionType_SPARSE_CSR, 0, wire::SparseIndexVector_Int32Vector,
                                       segments.Union(), wire::SparseIndexVector_Uint8Vector, indices.Union());
}

flatbuffers::Offset<wire::SparsityParameters> WriteSparsity(flatbuffers::FlatBufferBuilder& builder,
                                                            const WrittenSparsity& sparsity) {
  std::vector<flatbuffers::Offset<wire::DimensionMetadata>> levels;
  for (const WrittenLevel& level : sparsity.levels) levels.push_back(WriteLevel(builder, level));
  const auto order = builder.CreateVector(sparsity.traversal_order);
  const auto blocks = builder.CreateVector(sparsity.block_map);
  return wire::CreateSparsityParameters(builder, order, blocks, builder.CreateVector(levels));
}

auto WriteNames(flatbuffers::FlatBufferBuilder& builder, const WrittenNames& names) {
  std::vector<flatbuffers::Offset<wire::TensorMap>> entries;
  for (const auto& [name, tensor] : names) {
    entries.push_back(wire::CreateTensorMap(builder, builder.CreateString(name), static_cast<uint32_t>(tensor)));
  }
  return builder.CreateVector(entries);
}

}  // namespace

int32_t TfliteWriter::AddTensorOfBuffer(const WrittenTensor& tensor, uint32_t buffer, const WrittenSparsity* sparsity) {
  flatbuffers::Offset<wire::QuantizationParameters> quantization;
  if (!tensor.quantization.scales.empty()) {
    const auto scales = builder_.CreateVector(tensor.quantization.scales);
    const auto zero_points = builder_.CreateVector(tensor.quantization.zero_points);
    quantization = wire::CreateQuantizationParameters(builder_, scales, zero_points, wire::QuantizationDetails_NONE, 0,
                                                      tensor.quantization.dimension);
  }
  if (const WrittenQuantization& blocks = tensor.quantization; blocks.block_size != 0) {
    const auto details =
        wire::CreateBlockwiseQuantization(builder_, blocks.block_scales, blocks.block_zero_points, blocks.block_size);
    quantization = wire::CreateQuantizationParameters(builder_, 0, 0, wire::QuantizationDetails_BlockwiseQuantization,
                                                      details.Union());
  }
  const auto shape = builder_.CreateVector(tensor.shape);
  const auto name = builder_.CreateString(tensor.name);
  const auto signature = tensor.shape_signature.empty() ? 0 : builder_.CreateVector(tensor.shape_signature);
  flatbuffers::Offset<wire::SparsityParameters> written_sparsity;
  if (sparsity != nullptr) written_sparsity = WriteSparsity(builder_, *sparsity);
  tensors_.push_back(wire::CreateTensor(builder_, shape, tensor.type, buffer, name, quantization, tensor.is_variable,
                                        written_sparsity, signature));
  return static_cast<int32_t>(tensors_.size() - 1);
}

uint32_t TfliteWriter::AddOperatorCode(int32_t code, const std::string& custom_code) {
  const auto name = custom_code.empty() ? 0 : builder_.CreateString(custom_code);
  codes_.push_back(
      wire::CreateOperatorCode(builder_, static_cast<int8_t>(std::min(code, 127)), name, code > 127 ? code : 0));
  return static_cast<uint32_t>(codes_.size() - 1);
}

void TfliteWriter::AddOperatorWithOptions(uint32_t opcode_index, const std::vector<int32_t>& inputs,
                                          const std::vector<int32_t>& outputs, int options_type,
                                          flatbuffers::Offset<void> options,
                                          const std::vector<uint8_t>& custom_options) {
  const auto input_vector = builder_.CreateVector(inputs);
  const auto output_vector = builder_.CreateVector(outputs);
  const auto custom_vector = custom_options.empty() ? 0 : builder_.CreateVector(custom_options);
  operators_.push_back(wire::CreateOperator(builder_, opcode_index, input_vector, output_vector,
                                            static_cast<wire::BuiltinOptions>(options_type), options, custom_vector));
}

void TfliteWriter::AddComposite(int32_t subgraph, const std::vector<int32_t>& inputs,
                                const std::vector<int32_t>& outputs) {
  const auto name = builder_.CreateString("odml.some");
  AddOperator2(206, inputs, outputs, wire::CreateStableHLOCompositeOptions(builder_, name, subgraph));
}

void TfliteWriter::AddOperatorWithOptions2(uint32_t opcode_index, const std::vector<int32_t>& inputs,
                                           const std::vector<int32_t>& outputs, wire::BuiltinOptions2 options_type,
                                           flatbuffers::Offset<void> options) {
  const auto input_vector = builder_.CreateVector(inputs), output_vector = builder_.CreateVector(outputs);
  operators_.push_back(wire::CreateOperator(builder_, opcode_index, input_vector, output_vector,
                                            wire::BuiltinOptions_NONE, 0, 0, options_type, options));
}

void TfliteWriter::EndSubgraph(const std::vector<int32_t>& inputs, const std::vector<int32_t>& outputs) {
  const auto tensors = builder_.CreateVector(tensors_);
  const auto input_vector = builder_.CreateVector(inputs);
  const auto output_vector = builder_.CreateVector(outputs);
  const auto operators = builder_.CreateVector(operators_);
  const auto name = builder_.CreateString("main");
  subgraphs_.push_back(wire::CreateSubGraph(builder_, tensors, input_vector, output_vector, operators, name));
  tensors_.clear();
  operators_.clear();
}

void TfliteWriter::AddSignature(const std::string& key, uint32_t subgraph, const WrittenNames& inputs,
                                const WrittenNames& outputs) {
  const auto name = builder_.CreateString(key);
  const auto input_names = WriteNames(builder_, inputs);
  const auto output_names = WriteNames(builder_, outputs);
  signatures_.push_back(wire::CreateSignatureDef(builder_, input_names, output_names, name, subgraph));
}

void TfliteWriter::AddMetadata(const std::string& name, uint32_t buffer) {
  metadata_.push_back(wire::CreateMetadata(builder_, builder_.CreateString(name), buffer));
}

std::vector<std::byte> TfliteWriter::Finish(const std::vector<int32_t>& inputs, const std::vector<int32_t>& outputs) {
  EndSubgraph(inputs, outputs);
  return FinishFile();
}

std::vector<std::byte> TfliteWriter::FinishFile(uint32_t version) {
  const auto codes = builder_.CreateVector(codes_);
  const auto subgraphs = builder_.CreateVector(subgraphs_);
  const auto buffers = builder_.CreateVector(buffers_);
  const auto metadata = builder_.CreateVector(metadata_);
  const auto signatures = builder_.CreateVector(signatures_);
  wire::FinishModelBuffer(builder_,
                          wire::CreateModel(builder_, version, codes, subgraphs, buffers, metadata, signatures));
  std::vector<std::byte> bytes(builder_.GetSize());
  std::memcpy(bytes.data(), builder_.GetBufferPointer(), bytes.size());
  return bytes;
}

}  // namespace hearth
