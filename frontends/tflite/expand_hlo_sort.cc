// STABLEHLO_SORT by size, and STABLEHLO_COMPARE, from which its order is made.
#include <algorithm>
#include <iterator>
#include <utility>

#include "core/base/error.h"
#include "frontends/tflite/expand_hlo.h"

namespace hearth {
namespace {

constexpr std::pair<double, double> kPairs[] = {{1, 2}, {2, 1}, {-3, 2}, {2, -3}, {-2, -1}, {0, -4}};

// The subgraph's result for "a comes before b".
Result<bool> ComesBefore(Expansion& to, int32_t subgraph, double a, double b) {
  const DType dtype = to.desc(to.operand(0)).dtype;
  HEARTH_ASSIGN(const ValueId first, to.AddConstant(Shape(), dtype, {a}));
  HEARTH_ASSIGN(const ValueId second, to.AddConstant(Shape(), dtype, {b}));
  HEARTH_ASSIGN(const std::vector<ValueId> made, to.Call(subgraph, {first, second}));
  if (made.size() != 1 || !to.IsConstant(made[0]) || to.desc(made[0]).dtype != DType::kBool) {
    return Error(StatusCode::kUnsupported, "its order is no comparison");
  }
  HEARTH_ASSIGN(const double answer, to.NumberOf(made[0]));
  return answer != 0.0;
}

// Whether the order is by size, ascending (descending: false), as tested with a few numbers.
Result<bool> IsAscending(Expansion& to, int32_t subgraph) {
  size_t ascending = 0, descending = 0;
  for (const auto& [a, b] : kPairs) {
    HEARTH_ASSIGN(const bool comes_before, ComesBefore(to, subgraph, a, b));
    ++(comes_before == (a < b) ? ascending : descending);
  }
  if (ascending == 0 || descending == 0) return descending == 0;
  return Error(StatusCode::kUnsupported, "its order is not that of size");
}

}  // namespace

// (x): TOPK_V2 gives the largest first, and a reverse follows. The other order sorts negated numbers, which keeps NaN
// last.
Expanded ExpandHloSort(Expansion& to) {
  HEARTH_ASSIGN(const auto* options, to.Options<wire::StablehloSortOptions>());
  if (to.output_count() != 1 || to.Has(1)) return Error(StatusCode::kUnsupported, "several tensors at once");
  const TensorDesc desc = to.desc(to.operand(0));
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
  HEARTH_ASSIGN(const bool is_ascending, IsAscending(to, options->comparator_subgraph_index()));
  const int axis = static_cast<int>(options->dimension());
  std::vector<int32_t> order;
  for (int32_t d = 0; d < rank; ++d) order.push_back(d == axis ? rank - 1 : d == rank - 1 ? axis : d);
  const Shape swapped = Shape::FromSpan(order);
  HEARTH_ASSIGN(ValueId value, to.AddTranspose(to.operand(0), swapped));
  const bool negates = is_ascending && IsFloat(desc.dtype);
  if (negates) {
    HEARTH_ASSIGN(value, to.Add(Unary{.kind = UnaryKind::kNeg}, {value}));
  }
  HEARTH_ASSIGN(const std::vector<ValueId> found,
                to.AddSeveral(TopK{desc.shape[axis]}, {value}, {{desc.dtype, DType::kInt32}}));
  value = found[0];
  if (negates) {
    HEARTH_ASSIGN(value, to.Add(Unary{.kind = UnaryKind::kNeg}, {value}));
  }
  if (is_ascending && !negates) {
    HEARTH_ASSIGN(value, to.Add(Reverse{1U << (rank - 1)}, {value}));
  }
  return OneValue(to.AddTranspose(value, swapped));
}

// (a, b): TOTALORDER is treated as the ordinary comparison, so NaN and the two zeros have no order.
Expanded ExpandHloCompare(Expansion& to) {
  HEARTH_ASSIGN(const auto* options, to.Options<wire::StablehloCompareOptions>());
  constexpr BinaryKind kKinds[] = {BinaryKind::kEqual,   BinaryKind::kNotEqual,  BinaryKind::kGreaterEqual,
                                   BinaryKind::kGreater, BinaryKind::kLessEqual, BinaryKind::kLess};
  const auto direction = options->comparison_direction();
  if (direction >= std::size(kKinds)) {
    return Error(StatusCode::kMalformedInput, "there is no direction {}", direction);
  }
  if (to.desc(to.operand(0)) != to.desc(to.operand(1))) {
    return Error(StatusCode::kUnsupported, "operands that are not alike");
  }
  return OneValue(to.AddTest(kKinds[direction], to.operand(0), to.operand(1)));
}

}  // namespace hearth
