// REDUCE_WINDOW of TFLite and StableHLO: one dimension at a time, one element of all windows at a time.
#include "core/base/error.h"
#include "frontends/tflite/expand_hlo.h"

namespace hearth {
namespace {

struct Windows {
  std::vector<int64_t> sizes, strides, dilations;  // by dimension
  BinaryKind kind = BinaryKind::kAdd;
};

// Whether the number leaves the result of `kind` unchanged.
bool IsNeutral(BinaryKind kind, double number) {
  return (kind == BinaryKind::kAdd && number == 0.0) || (kind == BinaryKind::kMul && number == 1.0) ||
         (kind == BinaryKind::kLogicalAnd && number != 0.0) || (kind == BinaryKind::kLogicalOr && number == 0.0);
}

Result<ValueId> ReduceDimension(Expansion& to, ValueId value, int axis, const Windows& windows) {
  const auto d = static_cast<size_t>(axis);
  const int64_t reach = (windows.sizes[d] - 1) * windows.dilations[d] + 1, size = to.shape(value)[axis];
  if (reach > size && size > 0) return Error(StatusCode::kUnsupported, "windows of {} in {} elements", reach, size);
  const auto count = static_cast<int32_t>(size == 0 ? 0 : (size - reach) / windows.strides[d] + 1);
  if (count == 0) return value;
  HEARTH_TRY(to.ChargeOperators(2 * windows.sizes[d]));
  ValueId reduced = kNoValue;
  for (int64_t k = 0; k < windows.sizes[d]; ++k) {
    HEARTH_ASSIGN(const ValueId part, to.AddSlice(value, axis, static_cast<int32_t>(k * windows.dilations[d]), count,
                                                  static_cast<int32_t>(windows.strides[d])));
    HEARTH_ASSIGN(reduced, reduced == kNoValue ? Result<ValueId>(part) : to.AddBinary(windows.kind, reduced, part));
  }
  return reduced;
}

Result<ValueId> ReduceWindows(Expansion& to, ValueId value, const Windows& windows, double first) {
  for (int d = 0; d < to.shape(value).rank(); ++d) {
    HEARTH_ASSIGN(value, ReduceDimension(to, value, d, windows));
  }
  if (IsNeutral(windows.kind, first)) return value;
  HEARTH_ASSIGN(const ValueId begin, to.AddNumber(to.desc(value).dtype, first));
  return to.AddBinary(windows.kind, value, begin);
}

Result<BinaryKind> BodyOf(Expansion& to, int32_t subgraph) {
  HEARTH_ASSIGN(const std::vector<int32_t> codes, to.CodesOf(subgraph, 1));
  const std::optional<BinaryKind> kind = codes.empty() ? std::nullopt : FunctionOf(codes[0]);
  if (kind) return *kind;
  return Error(StatusCode::kUnsupported, "its function is not a sum, product, maximum, minimum, AND or OR");
}

std::optional<BinaryKind> FunctionOfNumber(int32_t number) {
  constexpr BinaryKind kKinds[] = {BinaryKind::kAdd,     BinaryKind::kMul,        BinaryKind::kMinimum,
                                   BinaryKind::kMaximum, BinaryKind::kLogicalAnd, BinaryKind::kLogicalOr};
  return number < 1 || number > 6 ? std::nullopt : std::optional(kKinds[number - 1]);
}

Result<std::vector<int64_t>> NumbersOfWindows(const Expansion& to, size_t operand) {
  HEARTH_ASSIGN(std::vector<int64_t> numbers, to.Integers(operand));
  for (const int64_t number : numbers) {
    if (number < 1 || number > (1 << 30)) {
      return Error(StatusCode::kMalformedInput, "a window's size, stride or dilation is {}", number);
    }
  }
  if (numbers.size() == static_cast<size_t>(to.shape(to.operand(0)).rank())) return numbers;
  return Error(StatusCode::kMalformedInput, "windows with {} dimensions", numbers.size());
}

}  // namespace

// (x, first)
Expanded ExpandHloReduceWindow(Expansion& to) {
  HEARTH_ASSIGN(const auto* options, to.Options<wire::StablehloReduceWindowOptions>());
  ValueId value = to.operand(0);
  const int rank = to.shape(value).rank();
  Windows windows;
  HEARTH_ASSIGN(windows.sizes, ListOfDims(options->window_dimensions(), "windows", 1, rank));
  HEARTH_ASSIGN(windows.strides, ListOfDims(options->window_strides(), "strides", 1, rank));
  HEARTH_ASSIGN(windows.dilations, ListOfDims(options->window_dilations(), "dilations", 1, rank));
  HEARTH_ASSIGN(const auto between, ListOfDims(options->base_dilations(), "dilations", 1, rank));
  HEARTH_ASSIGN(const auto padding, ListOfDims(options->padding(), "paddings", -(1 << 30), 2 * rank));
  HEARTH_ASSIGN(windows.kind, BodyOf(to, options->body_subgraph_index()));
  HEARTH_TRY(CheckElementsOf(to.desc(value), windows.kind));
  HEARTH_ASSIGN(const double first, to.Number(1));
  for (int d = 0; d < rank; ++d) {
    const auto at = static_cast<size_t>(d);
    HEARTH_ASSIGN(value, AddBetween(to, value, d, between[at] - 1, first));
    HEARTH_ASSIGN(value, AddEdges(to, value, d, padding[2 * at], padding[2 * at + 1], first));
  }
  return OneValue(ReduceWindows(to, value, windows, first));
}

// (x, first, sizes, strides, dilations)
Expanded ExpandReduceWindow(Expansion& to) {
  HEARTH_ASSIGN(const auto* options, to.Options<wire::ReduceWindowOptions>());
  const std::optional<BinaryKind> kind = FunctionOfNumber(options->reduce_function());
  if (!kind) return Error(StatusCode::kMalformedInput, "its function is number {}", options->reduce_function());
  Windows windows{.sizes = {}, .strides = {}, .dilations = {}, .kind = *kind};
  HEARTH_ASSIGN(windows.sizes, NumbersOfWindows(to, 2));
  HEARTH_ASSIGN(windows.strides, NumbersOfWindows(to, 3));
  HEARTH_ASSIGN(windows.dilations, NumbersOfWindows(to, 4));
  HEARTH_TRY(CheckElementsOf(to.desc(to.operand(0)), windows.kind));
  HEARTH_ASSIGN(const double first, to.Number(1));
  return OneValue(ReduceWindows(to, to.operand(0), windows, first));
}

}  // namespace hearth
