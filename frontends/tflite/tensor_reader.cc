#include "frontends/tflite/tensor_reader.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/base/text.h"
#include "core/graph/evaluate.h"
#include "core/graph/op_text.h"

namespace hearth {
namespace {

// Above any tensor, and far below an overflow of byte and bit counts in 64 bits.
constexpr int64_t kMaxElements = int64_t{1} << 40;

// "STRING", or the number of a type that the schema doesn't have.
std::string TypeName(wire::TensorType type) {
  const std::string name = wire::EnumNameTensorType(type);
  return name.empty() ? fmt::format("number {}", static_cast<int>(type)) : name;
}

struct ZeroPointRange {
  int64_t least, most;
};

// Advice for a tensor type that Hearth does not support.
std::string_view InsteadOf(wire::TensorType type) {
  switch (type) {
    case wire::TensorType_STRING: return "do the steps on strings before the model";
    default: return "leave it out of the model";
  }
}

// The numbers of a type, any of which may represent 0. Hearth keeps zero points of wider types in 32 bits.
ZeroPointRange ZeroPointRangeOf(wire::TensorType type) {
  switch (type) {
    case wire::TensorType_INT2: return {-2, 1};
    case wire::TensorType_INT4: return {-8, 7};
    case wire::TensorType_INT8: return {-128, 127};
    case wire::TensorType_UINT8: return {0, 255};
    case wire::TensorType_INT16: return {-32768, 32767};
    default: return {std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max()};
  }
}

}  // namespace

std::optional<DType> DTypeOf(wire::TensorType type) {
  switch (type) {
    case wire::TensorType_FLOAT32: return DType::kFloat32;
    case wire::TensorType_FLOAT16: return DType::kFloat16;
    case wire::TensorType_INT32: return DType::kInt32;
    case wire::TensorType_UINT8: return DType::kUInt8;
    case wire::TensorType_INT64: return DType::kInt64;
    case wire::TensorType_BOOL: return DType::kBool;
    case wire::TensorType_INT16: return DType::kInt16;
    case wire::TensorType_INT8: return DType::kInt8;
    case wire::TensorType_INT2: return DType::kInt4;  // only for constants, which are widened
    case wire::TensorType_INT4: return DType::kInt4;
    case wire::TensorType_UINT16: return DType::kUInt16;
    case wire::TensorType_UINT32: return DType::kUInt32;
    case wire::TensorType_FLOAT64: return DType::kFloat64;
    case wire::TensorType_UINT64: return DType::kUInt64;
    default: return std::nullopt;
  }
}

bool CanBeQuantized(DType dtype) {
  return !IsFloat(dtype) && dtype != DType::kBool && dtype != DType::kUInt16 && dtype != DType::kUInt32 &&
         dtype != DType::kUInt64;
}

std::string CleanName(std::string_view name) {
  std::string clean = Printable(name, '_');
  if (!IsUtf8(clean))
    std::ranges::replace_if(
        clean, [](unsigned char byte) { return byte >= 0x80; }, '_');
  return clean;
}

Status CopyBudget::Exceeded(std::string_view what) {
  return Error(StatusCode::kMalformedInput,
               "{} would copy more than four times the file's size out of it: the same data is listed again and again",
               what);
}

TensorReader::TensorReader(Reading& reading, const wire::SubGraph& subgraph)
    : reading_(reading),
      subgraph_(subgraph),
      graph_(reading.graph),
      count_(subgraph.tensors() == nullptr ? 0 : static_cast<int>(subgraph.tensors()->size())),
      value_of_(count_, kNoValue),
      shapes_(count_),
      types_(count_),
      is_folded_(count_, false),
      is_state_(count_, false),
      is_ordinary_(count_, false) {}

Status TensorReader::CheckIndex(int32_t tensor, std::string_view where) const {
  if (tensor >= 0 && tensor < count_) return Status::Ok();
  return Error(StatusCode::kMalformedInput, "{} refers to tensor {}; the subgraph has {} tensors", where, tensor,
               count_);
}

std::string ShortName(std::string_view name) {
  size_t length = std::min(name.size(), kMaxLabelBytes);
  while (length < name.size() && length > 0 && (name[length] & 0xc0) == 0x80) --length;
  return CleanName(name.substr(0, length));
}

std::string TensorReader::Label(int32_t index) const {
  if (tensor(index).name() == nullptr) return fmt::format("tensor {}", index);
  return fmt::format("tensor {} '{}'", index, ShortName(tensor(index).name()->string_view()));
}

std::string TensorReader::NameOf(int32_t index) const {
  const flatbuffers::String* stored = tensor(index).name();
  return stored != nullptr && stored->size() > 0 ? CleanName(stored->string_view()) : fmt::format("tensor_{}", index);
}

bool TensorReader::IsVariable(int32_t index) const {
  return tensor(index).is_variable() && !is_ordinary_[index];
}

bool TensorReader::IsMadeOrdinary(int32_t index) const {
  return tensor(index).is_variable() && is_ordinary_[index];
}

bool TensorReader::HasNoShape(int32_t index) const {
  return !shapes_[index] && (tensor(index).shape() == nullptr || tensor(index).shape()->size() == 0);
}

bool TensorReader::IsDynamic(int32_t index) const {
  const flatbuffers::Vector<int32_t>* signature = tensor(index).shape_signature();
  if (signature != nullptr && std::find(signature->begin(), signature->end(), -1) != signature->end()) return true;
  return HasNoShape(index);
}

std::vector<int32_t> TensorReader::DeclaredShape(int32_t index) const {
  const flatbuffers::Vector<int32_t>* signature = tensor(index).shape_signature();
  if (signature == nullptr || signature->size() == 0) signature = tensor(index).shape();
  if (signature == nullptr || signature->size() > Shape::kMaxRank) return {};
  return CopyOf(signature);
}

void TensorReader::SetShape(int32_t index, std::optional<Shape> shape) {
  shapes_[index] = shape;
  if (value_of_[index] == kNoValue) return;
  const Result<Shape> known = ShapeOf(index);
  if (known.ok()) graph_.value(value_of_[index]).desc.shape = known.value();
}

Result<Shape> TensorReader::ShapeOf(int32_t index) const {
  if (shapes_[index]) return *shapes_[index];
  return FileShapeOf(index);
}

Result<Shape> TensorReader::FileShapeOf(int32_t index) const {
  const flatbuffers::Vector<int32_t>* dims = tensor(index).shape();
  if (dims == nullptr) return Shape();
  if (dims->size() > Shape::kMaxRank) {
    return Error(StatusCode::kMalformedInput, "{} has rank {}; at most {} is possible: join dimensions, or {}",
                 Label(index), dims->size(), int{Shape::kMaxRank}, kPluginAdvice);
  }
  Shape shape = Shape::FromSpan({dims->data(), dims->size()});
  const flatbuffers::Vector<int32_t>* signature = tensor(index).shape_signature();
  for (int d = 0; signature != nullptr && static_cast<int>(signature->size()) == shape.rank() && d < shape.rank();
       ++d) {
    if (signature->Get(d) == -1 && shape[d] <= 0) shape[d] = 1;
  }
  int64_t elements = 1;
  for (const int32_t dim : shape.dims()) {
    if (dim < 0) {
      return Error(StatusCode::kMalformedInput, "{} has a dimension of {} in its shape {}", Label(index), dim,
                   shape.ToString());
    }
    const int64_t counted = std::max(dim, 1);  // the product of the other dimensions must fit, even beside a 0
    if (elements > kMaxElements / counted) {
      return Error(StatusCode::kMalformedInput, "{} of shape {} has more than 2^40 elements", Label(index),
                   shape.ToString());
    }
    elements *= counted;
  }
  return shape;
}

// A scale of 0 is taken: quantizers write it for channels whose weights are all 0.
Status TensorReader::CheckScale(int32_t index, double scale) const {
  if (std::isfinite(scale) && scale >= 0) return Status::Ok();
  return Error(StatusCode::kMalformedInput,
               "{} has the quantization scale {}; a finite number of at least 0 is possible", Label(index), scale);
}

Status TensorReader::CheckZeroPoint(int32_t index, int64_t zero_point) const {
  const ZeroPointRange range = ZeroPointRangeOf(tensor(index).type());
  if (zero_point >= range.least && zero_point <= range.most) return Status::Ok();
  return Error(StatusCode::kMalformedInput, "{} of {} has the zero point {}; {} to {} are possible", Label(index),
               TypeName(tensor(index).type()), zero_point, range.least, range.most);
}

Result<Quantization> TensorReader::ReadQuantization(int32_t index, const Shape& shape) {
  const wire::QuantizationParameters& parameters = *tensor(index).quantization();
  const size_t scale_count = parameters.scale() == nullptr ? 0 : parameters.scale()->size();
  const size_t zero_count = parameters.zero_point() == nullptr ? 0 : parameters.zero_point()->size();
  Quantization quantization;
  quantization.dimension = parameters.quantized_dimension();
  if (scale_count > 1) {
    const int32_t dimension = quantization.dimension;
    if (dimension < 0 || dimension >= shape.rank() || static_cast<size_t>(shape[dimension]) != scale_count) {
      return Error(StatusCode::kMalformedInput, "{} of shape {} has {} quantization scales along dimension {}",
                   Label(index), shape.ToString(), scale_count, dimension);
    }
  } else {
    quantization.dimension = 0;
  }
  if (zero_count > 1 && zero_count != scale_count) {
    return Error(StatusCode::kMalformedInput, "{} has {} quantization scales and {} zero points", Label(index),
                 scale_count, zero_count);
  }
  if (!reading_.copies.Charge(12 * scale_count)) return CopyBudget::Exceeded(Label(index));
  quantization.scales = CopyOf(parameters.scale());
  quantization.zero_points = CopyOf(parameters.zero_point());
  // If there are fewer zero points than scales, the first one, or 0, applies to all.
  quantization.zero_points.resize(scale_count, zero_count == 0 ? 0 : quantization.zero_points[0]);
  for (size_t i = 0; i < scale_count; ++i) {
    HEARTH_TRY(CheckScale(index, quantization.scales[i]));
    HEARTH_TRY(CheckZeroPoint(index, quantization.zero_points[i]));
  }
  return quantization;
}

Result<TensorDesc> TensorReader::Describe(int32_t index) {
  const wire::Tensor& read = tensor(index);
  const std::optional<DType> dtype = DTypeOf(read.type());
  const bool is_narrow = read.type() == wire::TensorType_INT2;
  std::span<const std::byte> stored;
  if (is_narrow || IsBlockwise(index)) {
    HEARTH_ASSIGN(stored, BufferBytes(index));
  }
  if (!dtype || (is_narrow && stored.empty())) {
    return Error(StatusCode::kUnsupported, "{} has the element type {}, which Hearth cannot hold: {}, or {}",
                 Label(index), TypeName(read.type()), InsteadOf(read.type()), kPluginAdvice);
  }
  TensorDesc desc;
  desc.dtype = types_[index].value_or(*dtype);
  HEARTH_ASSIGN(desc.shape, ShapeOf(index));
  const wire::QuantizationParameters* quantization = read.quantization();
  if (quantization == nullptr || !CanBeQuantized(desc.dtype)) return desc;
  if (IsBlockwise(index) && !stored.empty()) {
    desc.dtype = DType::kFloat32;
    return desc;
  }
  if (quantization->details_type() != 0) {
    return Error(StatusCode::kUnsupported, "{} is quantized in a custom or blockwise way (kind {})", Label(index),
                 static_cast<int>(quantization->details_type()));
  }
  if (quantization->scale() != nullptr && quantization->scale()->size() > 0) {
    HEARTH_ASSIGN(desc.quantization, ReadQuantization(index, desc.shape));
  }
  return desc;
}

Result<ValueId> TensorReader::ValueOf(int32_t index) {
  if (ComplexOf(index) != nullptr) {
    return Error(StatusCode::kUnsupported,
                 "{} holds complex numbers, which only COMPLEX_ABS, REAL, IMAG and operators that move elements read",
                 Label(index));
  }
  if (value_of_[index] != kNoValue) return value_of_[index];
  if (const auto known = reading_.constants.find(&tensor(index)); known != reading_.constants.end()) {
    value_of_[index] = known->second;
    is_folded_[index] = IsStoredOtherwise(index);
    return value_of_[index];
  }
  HEARTH_ASSIGN(TensorDesc desc, Describe(index));
  HEARTH_ASSIGN(const std::span<const std::byte> bytes, ConstantBytes(index));
  if (tensor(index).name() != nullptr && !reading_.copies.Charge(tensor(index).name()->size())) {
    return CopyBudget::Exceeded(Label(index));
  }
  std::string name = NameOf(index);

  const bool is_variable = bytes.empty() && IsVariable(index);
  if (is_variable) HEARTH_TRY(ChargeState(desc, index));
  if (is_variable && !is_state_[index]) {
    HEARTH_ASSIGN(std::vector<std::byte> zeros, BytesOfZeros(desc));
    value_of_[index] = graph_.AddConstantValue(std::move(name), std::move(desc), std::move(zeros));
    return value_of_[index];
  }
  if (!bytes.empty() && IsStoredOtherwise(index)) {
    HEARTH_ASSIGN(std::vector<std::byte> made, MadeBytes(index, desc, bytes));
    value_of_[index] = graph_.AddConstantValue(std::move(name), std::move(desc), std::move(made));
    is_folded_[index] = true;
    reading_.constants.emplace(&tensor(index), value_of_[index]);
    return value_of_[index];
  }
  Value value{std::move(name), std::move(desc), std::nullopt};
  if (!bytes.empty()) {
    value.constant = graph_.BorrowConstant(
        bytes, FileRange{0, static_cast<uint64_t>(bytes.data() - reading_.file.data()), bytes.size()});
  } else if (value.desc.shape.element_count() == 0) {
    value.constant = graph_.BorrowConstant({}, std::nullopt);
  }
  const bool is_constant = value.constant.has_value();
  value_of_[index] = graph_.AddValue(std::move(value));
  if (is_constant && !bytes.empty()) reading_.constants.emplace(&tensor(index), value_of_[index]);
  if (is_variable) graph_.states.push_back({value_of_[index], kNoValue});
  return value_of_[index];
}

void TensorReader::SetComplex(int32_t index, const ComplexValue& parts) {
  complex_[index] = parts;
  SetShape(index, graph_.value(parts.real).desc.shape);
}

const ComplexValue* TensorReader::ComplexOf(int32_t index) const {
  const auto found = complex_.find(index);
  return found == complex_.end() ? nullptr : &found->second;
}

void TensorReader::Forget(int32_t index) {
  value_of_[index] = kNoValue;
  is_folded_[index] = false;
  complex_.erase(index);
  shapes_[index].reset();
  types_[index].reset();
}

Status TensorReader::Bind(int32_t index, ValueId value) {
  const TensorDesc& given = graph_.value(value).desc;
  SetShape(index, given.shape);
  HEARTH_ASSIGN(const TensorDesc declared, Describe(index));
  if (declared.dtype != given.dtype) {
    return Error(StatusCode::kMalformedInput, "{} is {}, what is given for it {}", Label(index),
                 DTypeName(declared.dtype), DTypeName(given.dtype));
  }
  if (declared.quantization != given.quantization) {
    return Error(StatusCode::kUnsupported, "{} has another quantization than what is given for it", Label(index));
  }
  value_of_[index] = value;
  is_folded_[index] = graph_.IsConstant(value);
  return Status::Ok();
}

}  // namespace hearth
