// The bytes of constant tensors: in the file, in another form there, or computed while reading.
#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>

#include "core/graph/element.h"
#include "core/graph/float_reader.h"
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

// The scales or zero points of `index`, one for each of its blocks: another tensor holds them.
Result<BlockScales::Numbers> TensorReader::NumbersOfBlocks(int32_t index, int32_t holder, int64_t rows, int64_t per_row,
                                                           bool are_scales) {
  HEARTH_TRY(CheckIndex(holder, Label(index)));
  HEARTH_ASSIGN(const TensorDesc desc, Describe(holder));
  HEARTH_ASSIGN(const std::span<const std::byte> bytes, ConstantBytes(holder));
  const bool has_type = are_scales ? IsFloat(desc.dtype) : !IsReal(desc);
  const int64_t count = rows * per_row;
  if (!has_type || desc.shape.element_count() != count || bytes.empty() || IsStoredOtherwise(holder)) {
    return Error(StatusCode::kMalformedInput, "{} is quantized in {} blocks and needs {} constant {}, but {} is {}[{}]",
                 Label(index), count, count, are_scales ? "floats as scales" : "integers as zero points", Label(holder),
                 DTypeName(desc.dtype), desc.shape.ToString());
  }
  for (int64_t k = 0; k < count; ++k) {
    const double number = LoadElement(desc.dtype, bytes, k);
    HEARTH_TRY(are_scales ? CheckScale(index, number) : CheckZeroPoint(index, Saturate<int64_t>(number)));
  }
  const ValueId made = (*this)[holder].value;
  const bool is_made = made != kNoValue && !to_.graph().constant(*to_.graph().value(made).constant).source;
  if (is_made) return NumbersOfOwn(desc.dtype, bytes, per_row);
  const auto offset = static_cast<uint64_t>(bytes.data() - reading_.file.data());
  return BlockScales::Numbers{desc.dtype, bytes, per_row, 1, FileRange{0, offset, bytes.size()}};
}

// Blocks lie along the last dimension.
Result<BlockScales> TensorReader::BlocksOf(int32_t index, const Shape& shape) {
  const wire::BlockwiseQuantization& blocks = *tensor(index).quantization()->details_as_BlockwiseQuantization();
  const int64_t length = shape.rank() == 0 ? 1 : shape[shape.rank() - 1], size = blocks.block_size();
  if (size < 1) {
    return Error(StatusCode::kMalformedInput, "{} of shape {} is quantized in blocks of {} elements", Label(index),
                 shape.ToString(), size);
  }
  const int64_t per_row = (length + size - 1) / size, rows = shape.element_count() / std::max<int64_t>(length, 1);
  BlockScales read{.size = blocks.block_size(), .scales = {}, .zeros = {}};
  HEARTH_ASSIGN(read.scales, NumbersOfBlocks(index, blocks.scales(), rows, per_row, true));
  if (blocks.zero_points() != -1) {
    HEARTH_ASSIGN(read.zeros, NumbersOfBlocks(index, blocks.zero_points(), rows, per_row, false));
  }
  return read;
}

// Block-quantized elements as real numbers.
Result<std::vector<std::byte>> TensorReader::RealBytes(int32_t index, const Shape& shape,
                                                       std::span<const std::byte> stored) {
  HEARTH_ASSIGN(BlockScales blocks, BlocksOf(index, shape));
  const TensorDesc desc{*DTypeOf(tensor(index).type()), shape, GridOf(std::move(blocks))};
  HEARTH_TRY(CheckSize(Label(index), desc, stored));
  const int64_t count = shape.element_count();
  std::vector<float> reals(static_cast<size_t>(count));
  FloatReader(desc, stored).Read(0, count, reals.data());
  const std::span<const std::byte> bytes = std::as_bytes(std::span(reals));
  return std::vector(bytes.begin(), bytes.end());
}

Made TensorReader::StoredInBlocks(int32_t index) {
  const wire::Tensor& read = tensor(index);
  if (!IsBlockwise(index) || read.sparsity() != nullptr || read.type() == wire::TensorType_INT2) return kNoValue;
  HEARTH_ASSIGN(const std::span<const std::byte> bytes, BufferBytes(index));
  HEARTH_ASSIGN(const Shape shape, FileShapeOf(index));
  const DType dtype = *DTypeOf(read.type());
  if (bytes.empty() || shape.rank() != 2 || BitsOf(dtype) > 8) return kNoValue;
  const void* key = read.quantization();  // the tensor itself stands for real numbers
  if (const auto known = to_.stored().find(key); known != to_.stored().end()) return known->second;
  // Devices make floats of them, and many tensors may have the same bytes: what is too much is refused as floats.
  if (!reading_.budget.ChargeMade(4 * static_cast<size_t>(shape.element_count()))) return kNoValue;
  HEARTH_ASSIGN(NamedResult named, ResultFor(index));
  HEARTH_ASSIGN(BlockScales blocks, BlocksOf(index, shape));
  const TensorDesc desc{dtype, shape, GridOf(std::move(blocks))};
  HEARTH_TRY(CheckSize(Label(index), desc, bytes));
  const auto offset = static_cast<uint64_t>(bytes.data() - reading_.file.data());
  const ConstantId constant = to_.graph().BorrowConstant(bytes, FileRange{0, offset, bytes.size()});
  const ValueId value = to_.graph().AddValue({std::move(named.name), desc, constant});
  to_.stored().emplace(key, value);
  return value;
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
