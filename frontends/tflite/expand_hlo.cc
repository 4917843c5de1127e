// StableHLO's operators on single elements, borders, windows and orders, DILATE and REDUCE_WINDOW.
#include "frontends/tflite/expand_hlo.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/base/error.h"

namespace hearth {
namespace {

Result<BinaryKind> BodyOf(const OperatorView& op, int32_t subgraph) {
  HEARTH_ASSIGN(const std::vector<int32_t> codes, op.CodesOf(subgraph, 1));
  const std::optional<BinaryKind> kind = codes.empty() ? std::nullopt : FunctionOf(codes[0]);
  if (kind) return *kind;
  return Error(StatusCode::kUnsupported, "its function is not a sum, product, maximum, minimum, AND or OR");
}

std::optional<BinaryKind> FunctionOfNumber(int32_t number) {
  constexpr BinaryKind kKinds[] = {BinaryKind::kAdd,     BinaryKind::kMul,        BinaryKind::kMinimum,
                                   BinaryKind::kMaximum, BinaryKind::kLogicalAnd, BinaryKind::kLogicalOr};
  return number < 1 || number > 6 ? std::nullopt : std::optional(kKinds[number - 1]);
}

Result<std::vector<int64_t>> NumbersOfWindows(const OperatorView& op, size_t operand) {
  HEARTH_ASSIGN(std::vector<int64_t> numbers, op.to().Integers(op.operand(operand)));
  for (const int64_t number : numbers) {
    if (number < 1 || number > (1 << 30)) {
      return Error(StatusCode::kMalformedInput, "a window's size, stride or dilation is {}", number);
    }
  }
  if (numbers.size() == static_cast<size_t>(op.shape(0).rank())) return numbers;
  return Error(StatusCode::kMalformedInput, "windows with {} dimensions", numbers.size());
}

constexpr std::pair<double, double> kPairs[] = {{1, 2}, {2, 1}, {-3, 2}, {2, -3}, {-2, -1}, {0, -4}};

// The subgraph's result for "a comes before b".
Result<bool> ComesBefore(OperatorView& op, int32_t subgraph, double a, double b) {
  const DType dtype = op.desc(0).dtype;
  GraphWriter& to = op.to();
  const Operands numbers = {to.AddConstant(Shape(), dtype, {a}), to.AddConstant(Shape(), dtype, {b})};
  HEARTH_TRY(numbers.status);
  HEARTH_ASSIGN(const std::vector<ValueId> made, CallSubgraph(op.reading(), to, subgraph, numbers.ids));
  if (made.size() != 1 || !to.IsConstant(made[0]) || to.desc(made[0]).dtype != DType::kBool) {
    return Error(StatusCode::kUnsupported, "its order is no comparison");
  }
  HEARTH_ASSIGN(const double answer, to.Number(made[0]));
  return answer != 0.0;
}

// Whether the order is by size, ascending (descending: false), as tested with a few numbers.
Result<bool> IsAscending(OperatorView& op, int32_t subgraph) {
  size_t ascending = 0, descending = 0;
  for (const auto& [a, b] : kPairs) {
    HEARTH_ASSIGN(const bool comes_before, ComesBefore(op, subgraph, a, b));
    ++(comes_before == (a < b) ? ascending : descending);
  }
  if (ascending == 0 || descending == 0) return descending == 0;
  return Error(StatusCode::kUnsupported, "its order is not that of size");
}

}  // namespace

Result<std::vector<int64_t>> NumbersIn(const flatbuffers::Vector<int64_t>* list, std::string_view name, int64_t least) {
  if (list == nullptr) return std::vector<int64_t>();
  if (list->size() > static_cast<uint32_t>(2 * Shape::kMaxRank)) {
    return Error(StatusCode::kMalformedInput, "its {} are {} numbers", name, list->size());
  }
  std::vector<int64_t> numbers = CopyOf(list);
  for (const int64_t number : numbers) {
    if (number >= least && number <= kMostInDimension) continue;
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

std::optional<BinaryKind> FunctionOf(int32_t code) {
  static constexpr std::pair<int32_t, BinaryKind> kFunctions[] = {
      {0, BinaryKind::kAdd},          {163, BinaryKind::kAdd},      {18, BinaryKind::kMul},
      {165, BinaryKind::kMul},        {55, BinaryKind::kMaximum},   {166, BinaryKind::kMaximum},
      {57, BinaryKind::kMinimum},     {181, BinaryKind::kMinimum},  {86, BinaryKind::kLogicalAnd},
      {176, BinaryKind::kLogicalAnd}, {84, BinaryKind::kLogicalOr}, {183, BinaryKind::kLogicalOr}};
  const auto* const found = std::ranges::find(kFunctions, code, &std::pair<int32_t, BinaryKind>::first);
  return found == std::end(kFunctions) ? std::nullopt : std::optional(found->second);
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

Expanded ExpandHloBinary(OperatorView& op, GraphWriter& to) {
  const TensorDesc &a = op.desc(0), &b = op.desc(1);
  const BinaryKind kind = FunctionOfElements(*FunctionOf(op.code().row->code), a.dtype);
  HEARTH_TRY(CheckElementsOf(a, kind));
  if (a != b) {
    return Error(StatusCode::kUnsupported, "operands {}[{}] and {}[{}], which must be alike", DTypeName(a.dtype),
                 a.shape.ToString(), DTypeName(b.dtype), b.shape.ToString());
  }
  return OneValue(to.Add(kind, {op.operand(0), op.operand(1)}));
}

// Multiplies by a power of 2, which wraps like the shift. The factor is 0 for a negative number of bits or all bits.
Expanded ExpandHloShiftLeft(OperatorView& op, GraphWriter& to) {
  const DType dtype = op.desc(0).dtype;
  const bool is_taken = dtype == DType::kInt32 || dtype == DType::kInt16 || dtype == DType::kInt8;
  if (op.desc(0) != op.desc(1) || !is_taken || op.desc(0).quantization) {
    return Error(StatusCode::kUnsupported,
                 "operands {}[{}] and {}[{}], which must be int32, int16 or int8 of one shape", DTypeName(dtype),
                 op.shape(0).ToString(), DTypeName(op.desc(1).dtype), op.shape(1).ToString());
  }
  const int bits = BitsOf(dtype);
  std::vector<double> powers = {0.0};  // for -1 bits
  for (int bit = 0; bit + 1 < bits; ++bit) powers.push_back(static_cast<double>(int64_t{1} << bit));
  powers.push_back(-static_cast<double>(int64_t{1} << (bits - 1)));
  powers.push_back(0.0);  // for all bits
  const std::pair<BinaryKind, double> steps[] = {
      {BinaryKind::kMaximum, -1}, {BinaryKind::kMinimum, bits}, {BinaryKind::kAdd, 1}};
  Made by = to.AddCast(op.operand(1), DType::kInt32);
  for (const auto& [kind, number] : steps) by = to.Add(kind, {by, to.AddNumber(DType::kInt32, number)});
  const Made table = to.AddConstant({static_cast<int32_t>(powers.size())}, dtype, powers);
  return OneValue(to.Add(BinaryKind::kMul, {op.operand(0), to.Add(Gather{}, {table, by})}));
}

// (x, number)
Expanded ExpandHloPad(OperatorView& op, GraphWriter& to) {
  HEARTH_ASSIGN(const auto* options, op.Options<wire::StablehloPadOptions>());
  ValueId value = op.operand(0);
  const int rank = op.shape(0).rank();
  HEARTH_ASSIGN(const auto before, ListOfDims(options->edge_padding_low(), "paddings", -kMostInDimension, rank));
  HEARTH_ASSIGN(const auto after, ListOfDims(options->edge_padding_high(), "paddings", -kMostInDimension, rank));
  HEARTH_ASSIGN(const auto between, ListOfDims(options->interior_padding(), "inner paddings", 0, rank));
  HEARTH_ASSIGN(const double number, to.Number(op.operand(1)));
  for (int d = 0; d < rank; ++d) {
    const auto dimension = static_cast<size_t>(d);
    HEARTH_ASSIGN(value, AddBetween(to, value, d, between[dimension], number));
    HEARTH_ASSIGN(value, AddEdges(to, value, d, before[dimension], after[dimension], number));
  }
  return std::vector<ValueId>{value};
}

// (x, dilations, number)
Expanded ExpandDilate(OperatorView& op, GraphWriter& to) {
  ValueId value = op.operand(0);
  HEARTH_ASSIGN(const std::vector<int64_t> dilations, to.Integers(op.operand(1)));
  HEARTH_ASSIGN(const double number, to.Number(op.operand(2)));
  if (dilations.size() != static_cast<size_t>(op.shape(0).rank())) {
    return Error(StatusCode::kMalformedInput, "it has {} dilations for {} dimensions", dilations.size(),
                 op.shape(0).rank());
  }
  for (size_t d = 0; d < dilations.size(); ++d) {
    if (dilations[d] < 1 || dilations[d] > kMostInDimension) {
      return Error(StatusCode::kMalformedInput, "a dilation of {}", dilations[d]);
    }
    HEARTH_ASSIGN(value, AddBetween(to, value, static_cast<int>(d), dilations[d] - 1, number));
  }
  return std::vector<ValueId>{value};
}

// (x, first)
Expanded ExpandHloReduceWindow(OperatorView& op, GraphWriter& to) {
  HEARTH_ASSIGN(const auto* options, op.Options<wire::StablehloReduceWindowOptions>());
  ValueId value = op.operand(0);
  const int rank = op.shape(0).rank();
  Windows windows;
  HEARTH_ASSIGN(windows.sizes, ListOfDims(options->window_dimensions(), "windows", 1, rank));
  HEARTH_ASSIGN(windows.strides, ListOfDims(options->window_strides(), "strides", 1, rank));
  HEARTH_ASSIGN(windows.dilations, ListOfDims(options->window_dilations(), "dilations", 1, rank));
  HEARTH_ASSIGN(const auto between, ListOfDims(options->base_dilations(), "dilations", 1, rank));
  HEARTH_ASSIGN(const auto padding, ListOfDims(options->padding(), "paddings", -(1 << 30), 2 * rank));
  HEARTH_ASSIGN(windows.kind, BodyOf(op, options->body_subgraph_index()));
  HEARTH_TRY(CheckElementsOf(op.desc(0), windows.kind));
  HEARTH_ASSIGN(const double first, to.Number(op.operand(1)));
  for (int d = 0; d < rank; ++d) {
    const auto at = static_cast<size_t>(d);
    HEARTH_ASSIGN(value, AddBetween(to, value, d, between[at] - 1, first));
    HEARTH_ASSIGN(value, AddEdges(to, value, d, padding[2 * at], padding[2 * at + 1], first));
  }
  return OneValue(ReduceWindows(to, value, windows, first));
}

// (x, first, sizes, strides, dilations)
Expanded ExpandReduceWindow(OperatorView& op, GraphWriter& to) {
  HEARTH_ASSIGN(const auto* options, op.Options<wire::ReduceWindowOptions>());
  const std::optional<BinaryKind> kind = FunctionOfNumber(options->reduce_function());
  if (!kind) return Error(StatusCode::kMalformedInput, "its function is number {}", options->reduce_function());
  Windows windows{.sizes = {}, .strides = {}, .dilations = {}, .kind = *kind};
  HEARTH_ASSIGN(windows.sizes, NumbersOfWindows(op, 2));
  HEARTH_ASSIGN(windows.strides, NumbersOfWindows(op, 3));
  HEARTH_ASSIGN(windows.dilations, NumbersOfWindows(op, 4));
  HEARTH_TRY(CheckElementsOf(op.desc(0), windows.kind));
  HEARTH_ASSIGN(const double first, to.Number(op.operand(1)));
  return OneValue(ReduceWindows(to, op.operand(0), windows, first));
}

// (x): TOPK_V2 gives the largest first, and a reverse follows. The other order sorts negated numbers, which keeps NaN
// last.
Expanded ExpandHloSort(OperatorView& op, GraphWriter& to) {
  HEARTH_ASSIGN(const auto* options, op.Options<wire::StablehloSortOptions>());
  if (op.output_count() != 1 || op.Has(1)) return Error(StatusCode::kUnsupported, "several tensors at once");
  const TensorDesc desc = op.desc(0);
  const int rank = desc.shape.rank();
  if (rank == 0 || options->dimension() < 0 || options->dimension() >= rank) {
    return Error(StatusCode::kMalformedInput, "dimension {} of {}", options->dimension(), desc.shape.ToString());
  }
  const bool is_signed = IsFloat(desc.dtype) || desc.dtype == DType::kInt32 || desc.dtype == DType::kInt64 ||
                         desc.dtype == DType::kInt16 || desc.dtype == DType::kInt8;
  if (!is_signed || desc.quantization) {
    return Error(StatusCode::kUnsupported, "elements of the type {}{}", DTypeName(desc.dtype),
                 desc.quantization ? ", quantized" : "");
  }
  HEARTH_ASSIGN(const bool is_ascending, IsAscending(op, options->comparator_subgraph_index()));
  const int axis = static_cast<int>(options->dimension());
  const Shape swapped = Exchange(axis, rank - 1, rank);
  const Made moved = to.AddTranspose(op.operand(0), swapped);
  const bool negates = is_ascending && IsFloat(desc.dtype);
  HEARTH_ASSIGN(const std::vector<ValueId> found,
                to.AddSeveral(TopK{desc.shape[axis]}, {negates ? to.Add(UnaryKind::kNeg, moved) : moved},
                              {PlainType(desc.dtype), PlainType(DType::kInt32)}));
  Made sorted = found[0];
  if (negates) sorted = to.Add(UnaryKind::kNeg, sorted);
  if (is_ascending && !negates) sorted = to.Add(Reverse{1U << (rank - 1)}, {sorted});
  return OneValue(to.AddTranspose(sorted, swapped));
}

// (a, b): TOTALORDER is treated as the ordinary comparison, so NaN and the two zeros have no order.
Expanded ExpandHloCompare(OperatorView& op, GraphWriter& to) {
  HEARTH_ASSIGN(const auto* options, op.Options<wire::StablehloCompareOptions>());
  constexpr BinaryKind kKinds[] = {BinaryKind::kEqual,   BinaryKind::kNotEqual,  BinaryKind::kGreaterEqual,
                                   BinaryKind::kGreater, BinaryKind::kLessEqual, BinaryKind::kLess};
  const auto direction = options->comparison_direction();
  if (direction >= std::size(kKinds)) {
    return Error(StatusCode::kMalformedInput, "there is no direction {}", direction);
  }
  if (op.desc(0) != op.desc(1)) {
    return Error(StatusCode::kUnsupported, "operands that are not alike");
  }
  return OneValue(to.Add(kKinds[direction], {op.operand(0), op.operand(1)}));
}

}  // namespace hearth
