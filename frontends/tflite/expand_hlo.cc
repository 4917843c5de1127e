// StableHLO's operators on single elements and on borders, and DILATE.
#include "frontends/tflite/expand_hlo.h"

#include <algorithm>

#include "core/base/error.h"
#include "frontends/tflite/expand_rows.h"

namespace hearth {
namespace {

constexpr int64_t kMostInList = int64_t{1} << 30;

Status CheckSize(int64_t size) {
  if (size >= 1 && size <= kMostInList) return Status::Ok();
  return Error(StatusCode::kUnsupported, "a dimension of {} elements", size);
}

}  // namespace

Result<std::vector<int64_t>> NumbersIn(const flatbuffers::Vector<int64_t>* list, std::string_view name, int64_t least) {
  if (list == nullptr) return std::vector<int64_t>();
  if (list->size() > static_cast<uint32_t>(2 * Shape::kMaxRank)) {
    return Error(StatusCode::kMalformedInput, "its {} are {} numbers", name, list->size());
  }
  std::vector<int64_t> numbers = CopyOf(list);
  for (const int64_t number : numbers) {
    if (number >= least && number <= kMostInList) continue;
    return Error(StatusCode::kMalformedInput, "its {} hold {}", name, number);
  }
  return numbers;
}

Result<std::vector<int64_t>> ListOfDims(const flatbuffers::Vector<int64_t>* list, std::string_view name, int64_t least,
                                        int rank) {
  HEARTH_ASSIGN(std::vector<int64_t> numbers, NumbersIn(list, name, least));
  if (numbers.size() == static_cast<size_t>(rank)) return numbers;
  return Error(StatusCode::kMalformedInput, "its {} are {} numbers for {} dimensions", name, numbers.size(), rank);
}

Result<std::vector<int64_t>> ListOfAxes(const flatbuffers::Vector<int64_t>* list, std::string_view name, int rank) {
  HEARTH_ASSIGN(std::vector<int64_t> axes, NumbersIn(list, name, 0));
  for (size_t i = 0; i < axes.size(); ++i) {
    if (axes[i] < rank && std::find(axes.begin(), axes.begin() + static_cast<ptrdiff_t>(i), axes[i]) ==
                              axes.begin() + static_cast<ptrdiff_t>(i)) {
      continue;
    }
    return Error(StatusCode::kMalformedInput, "its {} name dimension {} of {}", name, axes[i], rank);
  }
  return axes;
}

Result<ValueId> AddBetween(Expansion& to, ValueId value, int axis, int64_t between, double number) {
  Shape shape = to.shape(value);
  const int32_t size = shape[axis];
  if (between == 0 || size <= 1) return value;
  const int64_t spread = (size - 1) * (between + 1) + 1;
  HEARTH_TRY(CheckSize(spread + between));
  if (to.IsEmpty(value)) {
    shape[axis] = static_cast<int32_t>(spread);
    return to.AddReshape(value, shape);
  }
  const int64_t inner = CountBetween(shape, axis + 1, shape.rank());
  HEARTH_TRY(CheckSize(inner));
  const int64_t lines = shape.element_count() / inner, outer = lines / size;
  HEARTH_TRY(CheckSize(lines));
  HEARTH_ASSIGN(value, to.AddReshape(value, {static_cast<int32_t>(lines), 1, static_cast<int32_t>(inner)}));
  HEARTH_ASSIGN(value, to.AddPad(value, 1, 0, static_cast<int32_t>(between), number));
  HEARTH_ASSIGN(value, to.AddReshape(value, {static_cast<int32_t>(outer), static_cast<int32_t>(spread + between),
                                             static_cast<int32_t>(inner)}));
  HEARTH_ASSIGN(value, to.AddSlice(value, 1, 0, static_cast<int32_t>(spread)));
  shape[axis] = static_cast<int32_t>(spread);
  return to.AddReshape(value, shape);
}

Result<ValueId> AddEdges(Expansion& to, ValueId value, int axis, int64_t before, int64_t after, double number) {
  const int64_t cut_before = std::max<int64_t>(0, -before), cut_after = std::max<int64_t>(0, -after);
  const int64_t kept = to.shape(value)[axis] - cut_before - cut_after;
  if (kept < 0) return Error(StatusCode::kUnsupported, "it cuts off more than all of dimension {}", axis);
  const int64_t made = kept + std::max<int64_t>(0, before) + std::max<int64_t>(0, after);
  if (made > 0) HEARTH_TRY(CheckSize(made));
  HEARTH_ASSIGN(value, to.AddSlice(value, axis, static_cast<int32_t>(cut_before), static_cast<int32_t>(kept)));
  return to.AddPad(value, axis, static_cast<int32_t>(std::max<int64_t>(0, before)),
                   static_cast<int32_t>(std::max<int64_t>(0, after)), number);
}

std::optional<BinaryKind> FunctionOf(int32_t code) {
  switch (code) {
    case 0:
    case 163: return BinaryKind::kAdd;
    case 18:
    case 165: return BinaryKind::kMul;
    case 55:
    case 166: return BinaryKind::kMaximum;
    case 57:
    case 181: return BinaryKind::kMinimum;
    case 86:
    case 176: return BinaryKind::kLogicalAnd;
    case 84:
    case 183: return BinaryKind::kLogicalOr;
    default: return std::nullopt;
  }
}

Status CheckElementsOf(const TensorDesc& desc, BinaryKind kind) {
  const bool is_logical = kind == BinaryKind::kLogicalAnd || kind == BinaryKind::kLogicalOr;
  const bool is_number = desc.dtype != DType::kBool && desc.dtype != DType::kInt4 &&
                         (kind != BinaryKind::kBitwiseAnd || !IsFloat(desc.dtype));
  if (!desc.quantization && (is_logical ? desc.dtype == DType::kBool : is_number)) return Status::Ok();
  return Error(StatusCode::kUnsupported, "elements of the type {}{}", DTypeName(desc.dtype),
               desc.quantization ? ", quantized" : "");
}

// AND of integers is bitwise. Of bool, product and minimum are AND, sum and maximum are OR.
BinaryKind FunctionOfElements(BinaryKind kind, DType dtype) {
  if (kind == BinaryKind::kLogicalAnd) return dtype == DType::kBool ? kind : BinaryKind::kBitwiseAnd;
  if (dtype != DType::kBool) return kind;
  const bool needs_both = kind == BinaryKind::kMul || kind == BinaryKind::kMinimum;
  return needs_both ? BinaryKind::kLogicalAnd : BinaryKind::kLogicalOr;
}

Expanded ExpandHloBinary(Expansion& to) {
  const ValueId a = to.operand(0), b = to.operand(1);
  const BinaryKind kind = FunctionOfElements(*FunctionOf(to.code()), to.desc(a).dtype);
  HEARTH_TRY(CheckElementsOf(to.desc(a), kind));
  if (to.desc(a) != to.desc(b)) {
    return Error(StatusCode::kUnsupported, "operands {}[{}] and {}[{}], which must be alike",
                 DTypeName(to.desc(a).dtype), to.shape(a).ToString(), DTypeName(to.desc(b).dtype),
                 to.shape(b).ToString());
  }
  return OneValue(to.AddBinary(kind, a, b));
}

// Multiplies by a power of 2, which wraps like the shift. The factor is 0 for a negative number of bits or all bits.
Expanded ExpandHloShiftLeft(Expansion& to) {
  const ValueId x = to.operand(0);
  ValueId by = to.operand(1);
  const DType dtype = to.desc(x).dtype;
  const bool is_taken = dtype == DType::kInt32 || dtype == DType::kInt16 || dtype == DType::kInt8;
  if (to.desc(x) != to.desc(by) || !is_taken || to.desc(x).quantization) {
    return Error(StatusCode::kUnsupported,
                 "operands {}[{}] and {}[{}], which must be int32, int16 or int8 of one shape", DTypeName(dtype),
                 to.shape(x).ToString(), DTypeName(to.desc(by).dtype), to.shape(by).ToString());
  }
  const int bits = BitsOf(dtype);
  if (dtype != DType::kInt32) {
    HEARTH_ASSIGN(by, to.Add(Cast{DType::kInt32}, {by}, DType::kInt32));
  }
  std::vector<double> powers = {0.0};  // for -1 bits
  for (int bit = 0; bit + 1 < bits; ++bit) powers.push_back(static_cast<double>(int64_t{1} << bit));
  powers.push_back(-static_cast<double>(int64_t{1} << (bits - 1)));
  powers.push_back(0.0);  // for all bits
  const std::pair<BinaryKind, double> steps[] = {
      {BinaryKind::kMaximum, -1}, {BinaryKind::kMinimum, bits}, {BinaryKind::kAdd, 1}};
  for (const auto& [kind, number] : steps) {
    HEARTH_ASSIGN(const ValueId constant, to.AddNumber(DType::kInt32, number));
    HEARTH_ASSIGN(by, to.AddBinary(kind, by, constant));
  }
  HEARTH_ASSIGN(const ValueId table, to.AddConstant({static_cast<int32_t>(powers.size())}, dtype, powers));
  HEARTH_ASSIGN(const ValueId factor, to.Add(Gather{}, {table, by}));
  return OneValue(to.AddBinary(BinaryKind::kMul, x, factor));
}

// (x, number)
Expanded ExpandHloPad(Expansion& to) {
  HEARTH_ASSIGN(const auto* options, to.Options<wire::StablehloPadOptions>());
  ValueId value = to.operand(0);
  const int rank = to.shape(value).rank();
  HEARTH_ASSIGN(const auto before, ListOfDims(options->edge_padding_low(), "paddings", -kMostInList, rank));
  HEARTH_ASSIGN(const auto after, ListOfDims(options->edge_padding_high(), "paddings", -kMostInList, rank));
  HEARTH_ASSIGN(const auto between, ListOfDims(options->interior_padding(), "inner paddings", 0, rank));
  HEARTH_ASSIGN(const double number, to.Number(1));
  for (int d = 0; d < rank; ++d) {
    const auto dimension = static_cast<size_t>(d);
    HEARTH_ASSIGN(value, AddBetween(to, value, d, between[dimension], number));
    HEARTH_ASSIGN(value, AddEdges(to, value, d, before[dimension], after[dimension], number));
  }
  return std::vector<ValueId>{value};
}

// (x, dilations, number)
Expanded ExpandDilate(Expansion& to) {
  ValueId value = to.operand(0);
  HEARTH_ASSIGN(const std::vector<int64_t> dilations, to.Integers(1));
  HEARTH_ASSIGN(const double number, to.Number(2));
  if (dilations.size() != static_cast<size_t>(to.shape(value).rank())) {
    return Error(StatusCode::kMalformedInput, "it has {} dilations for {} dimensions", dilations.size(),
                 to.shape(value).rank());
  }
  for (size_t d = 0; d < dilations.size(); ++d) {
    if (dilations[d] < 1 || dilations[d] > kMostInList) {
      return Error(StatusCode::kMalformedInput, "a dilation of {}", dilations[d]);
    }
    HEARTH_ASSIGN(value, AddBetween(to, value, static_cast<int>(d), dilations[d] - 1, number));
  }
  return std::vector<ValueId>{value};
}

}  // namespace hearth
