// The bytes of constant tensors: in the file, in another form there, or computed while reading.
#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "core/graph/element.h"
#include "core/graph/evaluate.h"
#include "core/graph/quantize.h"
#include "frontends/tflite/tensor_reader.h"

namespace hearth {
namespace {

// Converts int2, four to a byte, to int4, two to a byte. The first element of a byte is in its lowest bits.
// Precondition: `stored` holds `elements` of them.
std::vector<std::byte> Int4OfInt2(std::span<const std::byte> stored, int64_t elements) {
  std::vector<std::byte> wide((static_cast<size_t>(elements) + 1) / 2);
  for (int64_t i = 0; i < elements; ++i) {
    const auto place = static_cast<size_t>(i);
    const std::byte bits = stored[place / 4] >> (2 * (place % 4)) & std::byte{3};
    // The upper bit is the sign.
    const std::byte number = (bits & std::byte{2}) == std::byte{0} ? bits : bits | std::byte{12};
    wide[place / 2] |= number << (4 * (place % 2));
  }
  return wide;
}

// Converts elements of the plain type `desc` to the float32 numbers that they stand for. Each run of `block` elements
// of a row, of which the last may be shorter, has one of `scales`, and one of `zero_points` unless there are none.
// Precondition: there are as many of both as blocks, and `stored` has the size that `desc` needs.
std::vector<std::byte> RealsOfBlocks(const TensorDesc& desc, std::span<const std::byte> stored, int64_t block,
                                     int64_t blocks_per_row, const std::vector<double>& scales,
                                     const std::vector<double>& zero_points) {
  const int64_t elements = desc.shape.element_count();
  const int64_t length = desc.shape.rank() == 0 ? 1 : desc.shape[desc.shape.rank() - 1];
  std::vector<std::byte> reals(static_cast<size_t>(elements) * sizeof(float));
  for (int64_t i = 0; i < elements; ++i) {
    const auto at = static_cast<size_t>(i / length * blocks_per_row + i % length / block);
    const double zero_point = zero_points.empty() ? 0.0 : zero_points[at];
    const auto real = static_cast<float>((LoadElement(desc.dtype, stored, i) - zero_point) * scales[at]);
    std::memcpy(reals.data() + static_cast<size_t>(i) * sizeof real, &real, sizeof real);
  }
  return reals;
}

Status CheckSize(const std::string& label, const TensorDesc& desc, std::span<const std::byte> bytes) {
  if (bytes.size() != desc.size_bytes()) {
    return Error(StatusCode::kMalformedInput, "{} holds {} bytes of data, but {} elements of {} in shape {} need {}",
                 label, bytes.size(), desc.shape.element_count(), DTypeName(desc.dtype), desc.shape.ToString(),
                 desc.size_bytes());
  }
  return Status::Ok();
}

}  // namespace

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
  if (buffer.offset() <= 1) return std::span<const std::byte>();
  // Behind the flatbuffer, whose offsets have 31 bits.
  const size_t file_bytes = reading_.file.size();
  if (buffer.offset() > file_bytes || buffer.size() > file_bytes - buffer.offset()) {
    return Error(StatusCode::kMalformedInput, "{} has its {} bytes at offset {}, beyond the end of the file ({} bytes)",
                 Label(index), buffer.size(), buffer.offset(), file_bytes);
  }
  return reading_.file.subspan(buffer.offset(), buffer.size());
}

Result<std::span<const std::byte>> TensorReader::ConstantBytes(int32_t index) const {
  const TensorState& state = (*this)[index];
  if (state.value != kNoValue) {
    const bool is_constant = to_.IsConstant(state.value) && !state.is_real_view;
    return is_constant ? to_.graph().ConstantBytes(state.value) : std::span<const std::byte>();
  }
  HEARTH_ASSIGN(const std::span<const std::byte> bytes, BufferBytes(index));
  const std::optional<DType> dtype = DTypeOf(tensor(index).type());
  if (bytes.empty() || !dtype || IsStoredOtherwise(index)) return bytes;
  HEARTH_ASSIGN(const Shape shape, ShapeOf(index));
  HEARTH_TRY(CheckSize(Label(index), {*dtype, shape, std::nullopt}, bytes));
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

Result<std::span<const std::byte>> TensorReader::DenseConstantBytes(int32_t index) {
  if (IsStoredOtherwise(index)) HEARTH_TRY(ValueOf(index).status());
  return ConstantBytes(index);
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
  if (!reading_.budget.copies.Charge(ListBytes(sparsity))) return CopyBudget::Exceeded(Label(index));
  if (!reading_.budget.ChargeMade(desc.size_bytes())) {
    return Error(StatusCode::kUnsupported, "{} takes {} bytes when it is made dense: too many for a file of {}",
                 Label(index), desc.size_bytes(), reading_.file.size());
  }
  Result<std::vector<std::byte>> dense = MakeDense(sparsity, desc.shape, values, element_bytes);
  return dense.ok() ? std::move(dense) : Result<std::vector<std::byte>>(dense.status().Within(Label(index)));
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
  if (size < 1) {
    return Error(StatusCode::kMalformedInput, "{} of shape {} is quantized in blocks of {} elements", Label(index),
                 shape.ToString(), size);
  }
  const int64_t per_row = (length + size - 1) / size,
                count = shape.element_count() / std::max<int64_t>(length, 1) * per_row;
  HEARTH_ASSIGN(const std::vector<double> scales, NumbersOfBlocks(index, blocks.scales(), count, true));
  for (const double scale : scales) HEARTH_TRY(CheckScale(index, scale));
  std::vector<double> zero_points;
  if (blocks.zero_points() != -1) {
    HEARTH_ASSIGN(zero_points, NumbersOfBlocks(index, blocks.zero_points(), count, false));
    for (const double zero_point : zero_points) HEARTH_TRY(CheckZeroPoint(index, Saturate<int64_t>(zero_point)));
  }
  const TensorDesc desc{*DTypeOf(tensor(index).type()), shape, std::nullopt};
  HEARTH_TRY(CheckSize(Label(index), desc, stored));
  return RealsOfBlocks(desc, stored, size, per_row, scales, zero_points);
}

Result<std::vector<std::byte>> TensorReader::MadeBytes(int32_t index, const TensorDesc& desc,
                                                       std::span<const std::byte> stored) {
  const bool is_narrow = tensor(index).type() == wire::TensorType_INT2;
  if (tensor(index).sparsity() != nullptr) {
    if (!is_narrow && !IsBlockwise(index)) return DenseBytes(index, desc, stored);
    return Error(StatusCode::kUnsupported, "{} is stored sparsely, and {}: convert the model without sparsity",
                 Label(index), is_narrow ? "in 2 bits" : "quantized in blocks");
  }
  if (!reading_.budget.ChargeMade(desc.size_bytes())) {
    return Error(StatusCode::kUnsupported, "{} takes {} bytes when it is unpacked: too many for a file of {}",
                 Label(index), desc.size_bytes(), reading_.file.size());
  }
  if (!is_narrow) return RealBytes(index, desc.shape, stored);
  const int64_t elements = desc.shape.element_count();
  if (stored.size() != static_cast<size_t>(elements + 3) / 4) {
    return Error(StatusCode::kMalformedInput, "{} holds {} bytes of data, but {} elements of int2 in shape {} need {}",
                 Label(index), stored.size(), elements, desc.shape.ToString(), (elements + 3) / 4);
  }
  std::vector<std::byte> wide = Int4OfInt2(stored, elements);
  return IsBlockwise(index) ? RealBytes(index, desc.shape, wide) : Result<std::vector<std::byte>>(std::move(wide));
}

Result<bool> TensorReader::IsConstant(int32_t index) const {
  if ((*this)[index].value != kNoValue) return to_.IsConstant((*this)[index].value);
  HEARTH_ASSIGN(const std::span<const std::byte> bytes, ConstantBytes(index));
  HEARTH_ASSIGN(const Shape shape, ShapeOf(index));
  return !bytes.empty() || shape.element_count() == 0;
}

std::string TensorReader::WhyNotConstant(int32_t index) const {
  const ValueId value = (*this)[index].value;
  return Label(index) + (value == kNoValue ? " is computed at run time" : to_.ComputedFrom(value));
}

}  // namespace hearth
