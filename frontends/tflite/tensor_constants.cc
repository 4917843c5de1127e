// The bytes of constant tensors: in the file, in another form there, or computed while reading.
#include <algorithm>
#include <optional>
#include <utility>

#include "core/base/contains.h"
#include "core/graph/element.h"
#include "core/graph/evaluate.h"
#include "core/graph/quantize.h"
#include "frontends/tflite/sparse_tensor.h"
#include "frontends/tflite/stored_constants.h"
#include "frontends/tflite/tensor_reader.h"

namespace hearth {

Result<std::span<const std::byte>> TensorReader::BytesOutsideFlatbuffer(const wire::Buffer& buffer,
                                                                        int32_t index) const {
  if (buffer.offset() > reading_.file.size() || buffer.size() > reading_.file.size() - buffer.offset()) {
    return Error(StatusCode::kMalformedInput, "{} has its {} bytes at offset {}, beyond the end of the file ({} bytes)",
                 Label(index), buffer.size(), buffer.offset(), reading_.file.size());
  }
  if (buffer.offset() % 4 != 0) {
    return Error(StatusCode::kMalformedInput, "{} has its bytes at offset {}, which is not a multiple of 4",
                 Label(index), buffer.offset());
  }
  return reading_.file.subspan(buffer.offset(), buffer.size());
}

Result<std::span<const std::byte>> TensorReader::BufferBytes(int32_t index) const {
  if (tensor(index).external_buffer() != 0) {
    return Error(StatusCode::kUnsupported, "{} has its data in another file", Label(index));
  }
  const uint32_t buffer_index = tensor(index).buffer();
  if (buffer_index == 0) return std::span<const std::byte>();  // by convention empty
  const size_t buffer_count = reading_.model.buffers() == nullptr ? 0 : reading_.model.buffers()->size();
  if (buffer_index >= buffer_count) {
    return Error(StatusCode::kMalformedInput, "{} refers to buffer {}; the model has {} buffers", Label(index),
                 buffer_index, buffer_count);
  }
  const wire::Buffer& buffer = *reading_.model.buffers()->Get(buffer_index);
  if (buffer.data() != nullptr && buffer.data()->size() > 0) {
    return std::as_bytes(std::span(buffer.data()->Data(), buffer.data()->size()));
  }
  if (buffer.offset() > 1) return BytesOutsideFlatbuffer(buffer, index);
  return std::span<const std::byte>();
}

Result<std::span<const std::byte>> TensorReader::ConstantBytes(int32_t index) const {
  if (is_folded_[index]) return graph_.ConstantBytes(value_of_[index]);
  HEARTH_ASSIGN(const std::span<const std::byte> bytes, BufferBytes(index));
  const std::optional<DType> dtype = DTypeOf(tensor(index).type());
  if (bytes.empty() || !dtype || IsStoredOtherwise(index)) return bytes;
  HEARTH_ASSIGN(const Shape shape, ShapeOf(index));
  HEARTH_TRY(CheckSize(index, {*dtype, shape, std::nullopt}, bytes));
  return bytes;
}

bool TensorReader::IsBlockwise(int32_t index) const {
  const wire::QuantizationParameters* quantization = tensor(index).quantization();
  const std::optional<DType> dtype = DTypeOf(tensor(index).type());
  return quantization != nullptr && quantization->details_as_BlockwiseQuantization() != nullptr && dtype &&
         CanBeQuantized(*dtype);
}

bool TensorReader::IsStoredOtherwise(int32_t index) const {
  return tensor(index).sparsity() != nullptr || tensor(index).type() == wire::TensorType_INT2 || IsBlockwise(index);
}

Status TensorReader::CheckSize(int32_t index, const TensorDesc& desc, std::span<const std::byte> bytes) const {
  if (bytes.size() != desc.size_bytes()) {
    return Error(StatusCode::kMalformedInput, "{} holds {} bytes of data, but {} elements of {} in shape {} need {}",
                 Label(index), bytes.size(), desc.shape.element_count(), DTypeName(desc.dtype), desc.shape.ToString(),
                 desc.size_bytes());
  }
  return Status::Ok();
}

Result<std::span<const std::byte>> TensorReader::DenseConstantBytes(int32_t index) {
  if (IsStoredOtherwise(index)) HEARTH_TRY(ValueOf(index).status());
  return ConstantBytes(index);
}

Status TensorReader::ChargeState(const TensorDesc& desc, int32_t index) {
  const size_t size_bytes = desc.size_bytes();
  if (size_bytes > reading_.state_bytes_left) {
    return Error(StatusCode::kUnsupported, "{} is state of {} bytes; at most {} are possible in all", Label(index),
                 size_bytes, Reading::kMaxStateBytes);
  }
  reading_.state_bytes_left -= size_bytes;
  return Status::Ok();
}

Result<std::vector<std::byte>> TensorReader::DenseBytes(int32_t index, const TensorDesc& desc,
                                                        std::span<const std::byte> values) {
  const wire::SparsityParameters& sparsity = *tensor(index).sparsity();
  const size_t element_bytes = static_cast<size_t>(BitsOf(desc.dtype)) / 8;
  if (element_bytes == 0) {
    return Error(StatusCode::kUnsupported, "{} is {} and stored sparsely: convert the model without sparsity",
                 Label(index), DTypeName(desc.dtype));
  }
  if (values.size() % element_bytes != 0) {
    return Error(StatusCode::kMalformedInput, "{} holds {} bytes, no whole number of {} elements", Label(index),
                 values.size(), DTypeName(desc.dtype));
  }
  if (!reading_.copies.Charge(ListBytes(sparsity))) return CopyBudget::Exceeded(Label(index));
  if (!ChargeMade(desc.size_bytes())) {
    return Error(StatusCode::kUnsupported, "{} takes {} bytes when it is made dense: too many for a file of {}",
                 Label(index), desc.size_bytes(), reading_.file.size());
  }
  Result<std::vector<std::byte>> dense = MakeDense(sparsity, desc.shape, values, element_bytes);
  return dense.ok() ? std::move(dense) : Result<std::vector<std::byte>>(dense.status().Within(Label(index)));
}

// int2 elements as int4.
Result<std::vector<std::byte>> TensorReader::WideBytes(int32_t index, const Shape& shape,
                                                       std::span<const std::byte> stored) {
  if (stored.size() != static_cast<size_t>(shape.element_count() + 3) / 4) {
    return Error(StatusCode::kMalformedInput, "{} holds {} bytes of data, but {} elements of int2 in shape {} need {}",
                 Label(index), stored.size(), shape.element_count(), shape.ToString(), (shape.element_count() + 3) / 4);
  }
  return Int4OfInt2(stored, shape.element_count());
}

// The scales or zero points of `index`, one for each of its `count` blocks: another tensor holds them.
Result<std::vector<double>> TensorReader::NumbersOfBlocks(int32_t index, int32_t holder, int64_t count,
                                                          bool are_scales) {
  HEARTH_TRY(CheckIndex(holder, Label(index)));
  HEARTH_ASSIGN(const TensorDesc desc, Describe(holder));
  HEARTH_ASSIGN(const std::span<const std::byte> bytes, ConstantBytes(holder));
  const bool is_integer = !IsReal(desc);
  if ((are_scales ? IsFloat(desc.dtype) : is_integer) && desc.shape.element_count() == count && !bytes.empty() &&
      !IsStoredOtherwise(holder)) {
    HEARTH_ASSIGN(ReferenceTensor numbers, ReferenceFromBytes(desc, bytes));
    return std::move(numbers.values);
  }
  return Error(StatusCode::kMalformedInput, "{} is quantized in {} blocks and needs {} constant {}, but {} is {}[{}]",
               Label(index), count, count, are_scales ? "floats as scales" : "integers as zero points", Label(holder),
               DTypeName(desc.dtype), desc.shape.ToString());
}

// Block-quantized elements as real numbers. Blocks lie along the last dimension.
Result<std::vector<std::byte>> TensorReader::RealBytes(int32_t index, const Shape& shape,
                                                       std::span<const std::byte> stored) {
  const wire::BlockwiseQuantization& blocks = *tensor(index).quantization()->details_as_BlockwiseQuantization();
  const int64_t length = shape.rank() == 0 ? 1 : shape[shape.rank() - 1], size = blocks.block_size();
  if (size < 1 || length % size != 0) {
    return Error(StatusCode::kMalformedInput, "{} of shape {} is quantized in blocks of {} elements", Label(index),
                 shape.ToString(), size);
  }
  const int64_t count = shape.element_count() / size;
  HEARTH_ASSIGN(const std::vector<double> scales, NumbersOfBlocks(index, blocks.scales(), count, true));
  for (const double scale : scales) HEARTH_TRY(CheckScale(index, scale));
  std::vector<double> zero_points;
  if (blocks.zero_points() != -1) {
    HEARTH_ASSIGN(zero_points, NumbersOfBlocks(index, blocks.zero_points(), count, false));
    for (const double zero_point : zero_points) HEARTH_TRY(CheckZeroPoint(index, Saturate<int64_t>(zero_point)));
  }
  const TensorDesc desc{*DTypeOf(tensor(index).type()), shape, std::nullopt};
  HEARTH_TRY(CheckSize(index, desc, stored));
  return RealsOfBlocks(desc, stored, size, scales, zero_points);
}

Result<std::vector<std::byte>> TensorReader::MadeBytes(int32_t index, const TensorDesc& desc,
                                                       std::span<const std::byte> stored) {
  const bool is_narrow = tensor(index).type() == wire::TensorType_INT2;
  if (tensor(index).sparsity() != nullptr) {
    if (!is_narrow && !IsBlockwise(index)) return DenseBytes(index, desc, stored);
    return Error(StatusCode::kUnsupported, "{} is stored sparsely, and {}: convert the model without sparsity",
                 Label(index), is_narrow ? "in 2 bits" : "quantized in blocks");
  }
  if (!ChargeMade(desc.size_bytes())) {
    return Error(StatusCode::kUnsupported, "{} takes {} bytes when it is unpacked: too many for a file of {}",
                 Label(index), desc.size_bytes(), reading_.file.size());
  }
  if (!is_narrow) return RealBytes(index, desc.shape, stored);
  HEARTH_ASSIGN(std::vector<std::byte> wide, WideBytes(index, desc.shape, stored));
  return IsBlockwise(index) ? RealBytes(index, desc.shape, wide) : Result<std::vector<std::byte>>(std::move(wide));
}

Result<bool> TensorReader::IsConstant(int32_t index) const {
  if (value_of_[index] != kNoValue) return graph_.IsConstant(value_of_[index]);
  HEARTH_ASSIGN(const std::span<const std::byte> bytes, ConstantBytes(index));
  HEARTH_ASSIGN(const Shape shape, ShapeOf(index));
  return !bytes.empty() || shape.element_count() == 0;
}

std::string TensorReader::WhyNotConstant(int32_t index) const {
  ValueId value = value_of_[index];
  std::string text = fmt::format("{} is computed at run time", Label(index));
  // A large file may ask again and again: then where it comes from is left out.
  if (value == kNoValue || graph_.nodes().size() > reading_.searched_nodes_left) return text;
  reading_.searched_nodes_left -= graph_.nodes().size();
  // Follows the first operands that are not constant backwards. Nodes come after those that make their operands, so
  // going through them once finds all.
  for (auto node = graph_.nodes().rbegin(); node != graph_.nodes().rend(); ++node) {
    if (!Contains(node->outputs, value)) continue;
    const auto found = std::ranges::find_if(
        node->inputs, [&](ValueId operand) { return operand != kNoValue && !graph_.IsConstant(operand); });
    if (found == node->inputs.end() || *found == value) break;
    value = *found;
  }
  if (value == value_of_[index]) return text;
  return text + fmt::format(", from '{}'", ShortName(graph_.value(value).name));
}

bool TensorReader::ChargeMade(size_t bytes) {
  if (bytes > reading_.made_bytes_left) return false;
  reading_.made_bytes_left -= bytes;
  return true;
}

Status TensorReader::Fold(int32_t index, std::vector<std::byte> bytes) {
  HEARTH_ASSIGN(const ValueId value, ValueOf(index));
  graph_.MakeConstant(value, std::move(bytes));
  is_folded_[index] = true;
  return Status::Ok();
}

}  // namespace hearth
