#include "frontends/tflite/tensor_reader.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/text.h"
#include "core/graph/element.h"
#include "core/graph/evaluate.h"
#include "core/graph/op_text.h"
#include "frontends/writer/names.h"

namespace hearth {
namespace {

// "STRING", or the number of a type that the schema doesn't have.
std::string TypeName(wire::TensorType type) {
  const std::string name = wire::EnumNameTensorType(type);
  return name.empty() ? fmt::format("number {}", static_cast<int>(type)) : name;
}

}  // namespace

std::optional<DType> DTypeOf(wire::TensorType type) {
  static constexpr std::pair<wire::TensorType, DType> kTypes[] = {
      {wire::TensorType_FLOAT32, DType::kFloat32}, {wire::TensorType_FLOAT16, DType::kFloat16},
      {wire::TensorType_INT32, DType::kInt32},     {wire::TensorType_UINT8, DType::kUInt8},
      {wire::TensorType_INT64, DType::kInt64},     {wire::TensorType_BOOL, DType::kBool},
      {wire::TensorType_INT16, DType::kInt16},     {wire::TensorType_INT8, DType::kInt8},
      {wire::TensorType_INT2, DType::kInt4},  // only for constants, which are widened
      {wire::TensorType_INT4, DType::kInt4},       {wire::TensorType_UINT16, DType::kUInt16},
      {wire::TensorType_UINT32, DType::kUInt32},   {wire::TensorType_FLOAT64, DType::kFloat64},
      {wire::TensorType_UINT64, DType::kUInt64}};
  const auto* const known = std::ranges::find(kTypes, type, &std::pair<wire::TensorType, DType>::first);
  return known == std::end(kTypes) ? std::nullopt : std::optional(known->second);
}

bool CanBeQuantized(DType dtype) {
  return !IsFloat(dtype) && dtype != DType::kBool && dtype != DType::kUInt16 && dtype != DType::kUInt32 &&
         dtype != DType::kUInt64;
}

TensorReader::TensorReader(Reading& reading, GraphWriter& to, const wire::SubGraph& subgraph, int32_t number)
    : reading_(reading),
      to_(to),
      subgraph_(subgraph),
      number_(number),
      states_(subgraph.tensors() == nullptr ? 0 : subgraph.tensors()->size()) {}

Status TensorReader::CheckIndex(int32_t tensor, std::string_view where) const {
  if (tensor >= 0 && tensor < count()) return Status::Ok();
  return Error(StatusCode::kMalformedInput, "{} refers to tensor {}; the subgraph has {} tensors", where, tensor,
               count());
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
  return tensor(index).is_variable() && !(*this)[index].is_ordinary;
}

bool TensorReader::HasNoShape(int32_t index) const {
  const ValueId value = (*this)[index].value;
  if (value != kNoValue) return to_.marks().unknown_shapes.contains(value);
  return tensor(index).shape() == nullptr || tensor(index).shape()->size() == 0;
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

Result<Shape> TensorReader::ShapeOf(int32_t index) const {
  const ValueId value = (*this)[index].value;
  return value == kNoValue ? FileShapeOf(index) : to_.shape(value);
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
    if (elements > kMaxElementCount / counted) {
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

// Any number of the type may represent 0. Hearth keeps zero points of wider types in 32 bits.
Status TensorReader::CheckZeroPoint(int32_t index, int64_t zero_point) const {
  const wire::TensorType type = tensor(index).type();
  const int bits = type == wire::TensorType_INT2 ? 2 : BitsOf(DTypeOf(type).value_or(DType::kInt32));
  const bool is_unsigned = type == wire::TensorType_UINT8;
  const int64_t half = int64_t{1} << (std::min(bits, 32) - 1);
  const int64_t least = is_unsigned ? 0 : -half, most = is_unsigned ? 2 * half - 1 : half - 1;
  if (zero_point >= least && zero_point <= most) return Status::Ok();
  return Error(StatusCode::kMalformedInput, "{} of {} has the zero point {}; {} to {} are possible", Label(index),
               TypeName(type), zero_point, least, most);
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
  if (!reading_.budget.copies.Charge(12 * scale_count)) return CopyBudget::Exceeded(Label(index));
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
  const TensorState& state = (*this)[index];
  if (state.value != kNoValue && !state.is_real_view) return to_.desc(state.value);
  HEARTH_ASSIGN(const Shape shape, ShapeOf(index));
  return DescribeAs(index, shape);
}

// The file's description with another shape.
Result<TensorDesc> TensorReader::DescribeAs(int32_t index, const Shape& shape) {
  const wire::Tensor& read = tensor(index);
  const std::optional<DType> dtype = DTypeOf(read.type());
  const bool is_narrow = read.type() == wire::TensorType_INT2;
  std::span<const std::byte> stored;
  if (is_narrow || IsBlockwise(index)) {
    HEARTH_ASSIGN(stored, BufferBytes(index));
  }
  if (!dtype || (is_narrow && stored.empty())) {
    const bool is_text = read.type() == wire::TensorType_STRING;
    return Error(StatusCode::kUnsupported, "{} has the element type {}, which Hearth cannot hold: {}, or {}",
                 Label(index), TypeName(read.type()),
                 is_text ? "do the steps on strings before the model" : "leave it out of the model", kPluginAdvice);
  }
  TensorDesc desc{(*this)[index].type.value_or(*dtype), shape, std::nullopt};
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

Result<NamedResult> TensorReader::ResultFor(int32_t index) {
  HEARTH_ASSIGN(TensorDesc desc, Describe(index));
  if (tensor(index).name() != nullptr && !reading_.budget.copies.Charge(tensor(index).name()->size())) {
    return CopyBudget::Exceeded(Label(index));
  }
  return NamedResult{NameOf(index), std::move(desc), (*this)[index].is_output};
}

bool TensorReader::IsComplex(int32_t index) const {
  return tensor(index).type() == wire::TensorType_COMPLEX64;
}

Result<NamedResult> TensorReader::PairsFor(int32_t index) const {
  HEARTH_ASSIGN(const Shape shape, FileShapeOf(index));
  if (shape.rank() == Shape::kMaxRank)
    return Error(StatusCode::kUnsupported, "{} of shape {}", Label(index), shape.ToString());
  const Shape pairs = WithDimension(shape, shape.rank(), 2);
  return NamedResult{NameOf(index), {DType::kFloat32, pairs, std::nullopt}, (*this)[index].is_output};
}

Made TensorReader::ValueOf(int32_t index) {
  TensorState& state = (*this)[index];
  if (state.value != kNoValue) return state.value;
  if (const auto known = to_.stored().find(&tensor(index)); known != to_.stored().end()) {
    return state.value = known->second;
  }
  HEARTH_ASSIGN(const std::span<const std::byte> bytes, ConstantBytes(index));
  HEARTH_ASSIGN(NamedResult named, ResultFor(index));
  Graph& graph = to_.graph();
  const bool is_variable = bytes.empty() && IsVariable(index);
  if (is_variable) HEARTH_TRY(reading_.budget.ChargeState(named.desc, Label(index)));
  if (is_variable && !state.is_state) {
    HEARTH_ASSIGN(std::vector<std::byte> zeros, BytesOfZeros(named.desc));
    return state.value = graph.AddConstantValue(std::move(named.name), std::move(named.desc), std::move(zeros));
  }
  if (!bytes.empty() && IsStoredOtherwise(index)) {
    HEARTH_ASSIGN(std::vector<std::byte> made, MadeBytes(index, named.desc, bytes));
    state.value = graph.AddConstantValue(std::move(named.name), std::move(named.desc), std::move(made));
  } else {
    Value value{std::move(named.name), std::move(named.desc), std::nullopt};
    if (!bytes.empty()) {
      if (!reading_.budget.ChargeStored(value.desc)) {
        return Error(StatusCode::kUnsupported,
                     "{} shares its bytes, and is one constant too many for a file of {} bytes", Label(index),
                     reading_.file.size());
      }
      const auto offset = static_cast<uint64_t>(bytes.data() - reading_.file.data());
      value.constant = graph.BorrowConstant(bytes, FileRange{0, offset, bytes.size()});
    } else if (value.desc.shape.element_count() == 0) {
      value.constant = graph.BorrowConstant({}, std::nullopt);
    }
    state.value = graph.AddValue(std::move(value));
  }
  if (!bytes.empty()) to_.stored().emplace(&tensor(index), state.value);
  if (is_variable) graph.states.push_back({state.value, kNoValue});
  return state.value;
}

Made TensorReader::OperandOf(int32_t index, bool takes_stored) {
  HEARTH_ASSIGN(const ValueId value, ValueOf(index));
  return (*this)[index].is_real_view && !takes_stored ? to_.AddWidened(value) : value;
}

Status TensorReader::Bind(int32_t index, ValueId value) {
  const TensorDesc& given = to_.desc(value);
  HEARTH_ASSIGN(const TensorDesc declared, DescribeAs(index, given.shape));
  if (declared.dtype != given.dtype) {
    return Error(StatusCode::kMalformedInput, "{} is {}, what is given for it {}", Label(index),
                 DTypeName(declared.dtype), DTypeName(given.dtype));
  }
  if (declared.quantization != given.quantization) {
    return Error(StatusCode::kUnsupported, "{} has another quantization than what is given for it", Label(index));
  }
  (*this)[index].value = value;
  return Status::Ok();
}

Status TensorReader::BindOwnStates() {
  for (int32_t index = 0; index < count(); ++index) {
    if (!(*this)[index].is_state || (*this)[index].source != TensorState::Source::kNone) continue;
    HEARTH_ASSIGN(const TensorDesc desc, Describe(index));
    to_.variables().Declare(NameOfOwnState(index), desc);
    HEARTH_ASSIGN(const ValueId now, to_.variables().Read(NameOfOwnState(index)));
    HEARTH_TRY(Bind(index, now));
  }
  return Status::Ok();
}

Result<NamedResult> TensorReader::NextFor(int32_t index) {
  HEARTH_ASSIGN(const ValueId before, OperandOf(index, false));
  const Value& value = to_.graph().value(before);
  NamedResult next{value.name + "_next", value.desc};
  if (!reading_.budget.copies.Charge(next.name.size())) return CopyBudget::Exceeded(Label(index));
  return next;
}

Status TensorReader::ReplaceState(int32_t index, ValueId next) {
  TensorState& state = (*this)[index];
  if (!state.is_state && !(tensor(index).is_variable() && state.is_ordinary)) return Status::Ok();
  HEARTH_ASSIGN(const ValueId before, ValueOf(index));
  for (StatePair& pair : to_.graph().states) {
    if (pair.read == before || pair.written == before) pair.written = next;
  }
  state.value = next;
  state.is_real_view = false;
  if (number_ < 0 || !state.is_state) return Status::Ok();
  return to_.variables().Assign(NameOfOwnState(index), next);
}

}  // namespace hearth
