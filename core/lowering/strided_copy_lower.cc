#include <fmt/format.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/graph/ops/view_of.h"
#include "core/lowering/lowering_support.h"
#include "core/lowering/matrix_call.h"
#include "core/lowering/op_lowerings.h"

namespace hearth {
namespace {

constexpr size_t kKernelDigits = 11;

// The unit that the kernel moves: the view in units, and the units per pixel on each side.
struct Units {
  StridedView view;
  int32_t in_per_pixel = 1, out_per_pixel = 1;
  bool whole_texels = false;
};

bool AllStridesDivide(const StridedView& view, int64_t divisor, size_t digits) {
  return std::all_of(view.digits.begin(), view.digits.begin() + static_cast<std::ptrdiff_t>(digits),
                     [&](const StridedView::Digit& digit) { return digit.stride % divisor == 0; });
}

// Whether the innermost digit covers whole groups of `group` neighbours and all other digits move whole groups.
bool MovesGroups(const StridedView& view, int64_t group) {
  if (view.base % group != 0 || group == 1) return group == 1;
  if (view.digits.empty()) return false;
  const StridedView::Digit& inner = view.digits.back();
  return inner.stride == 1 && inner.radix % group == 0 && AllStridesDivide(view, group, view.digits.size() - 1);
}

// The view in texels instead of elements: `group` elements become `texels` texels. Precondition: MovesGroups.
StridedView Regrouped(StridedView view, int64_t group, int64_t texels) {
  view.base = view.base / group * texels;
  for (size_t k = 0; k < view.digits.size(); ++k) {
    StridedView::Digit& digit = view.digits[k];
    if (group > 1 && k + 1 == view.digits.size()) {
      digit.radix = digit.radix / group * texels;
    } else {
      digit.stride = digit.stride / group * texels;
    }
  }
  return view;
}

// Whole texels move if all channels of a pixel stay together, or groups of four channels on both sides.
Units UnitsOf(const StridedView& view, const Bhwc& in, const Bhwc& out) {
  if (in.c == out.c && MovesGroups(view, in.c)) {
    return {Regrouped(view, in.c, in.slices()), in.slices(), out.slices(), true};
  }
  if (in.c % 4 == 0 && out.c % 4 == 0 && MovesGroups(view, 4)) {
    return {Regrouped(view, 4, 1), in.slices(), out.slices(), true};
  }
  return {view, in.c, out.c, false};
}

KernelCall CopyCall(const Units& units, const Bhwc& in, const Bhwc& out) {
  static constexpr ScalarName kStrides[kKernelDigits] = {"S0", "S1", "S2", "S3", "S4", "S5",
                                                         "S6", "S7", "S8", "S9", "S10"};
  static constexpr ScalarName kRadices[kKernelDigits] = {"R0", "R1", "R2", "R3", "R4", "R5",
                                                         "R6", "R7", "R8", "R9", "R10"};
  KernelCall call;
  call.kernel = "strided_copy";
  call.scalars = {{"BASE", units.view.base},
                  {"IC", units.in_per_pixel},
                  {"IPIX", in.pixels()},
                  {"OC", units.out_per_pixel},
                  {"OPIX", out.pixels()}};
  const size_t digits = units.view.digits.size();
  for (size_t k = 0; k < kKernelDigits; ++k) {
    const StridedView::Digit digit = k < digits ? units.view.digits[digits - 1 - k] : StridedView::Digit{};
    call.scalars.push_back({kStrides[k], digit.stride});
    call.scalars.push_back({kRadices[k], digit.radix});
  }
  call.defines = {{"DIGITS", digits > 6   ? "11"
                             : digits > 3 ? "6"
                                          : "3"},
                  {"WHOLE_TEXELS", units.whole_texels ? "1" : "0"}};
  UseLines(out.pixels(), out.slices(), call);
  return call;
}

// The input texel that is the output's first texel, if the output's texels follow it in memory: whole slices of
// channels, or pixels of tensors with one slice.
std::optional<int64_t> FirstTexel(const StridedView& view, const Bhwc& in, const Bhwc& out) {
  const auto reads = [&](int64_t base, std::vector<StridedView::Digit> digits) {
    return view == Simplified({base, std::move(digits)});
  };
  const int64_t channel = view.base % in.c, pixel = view.base / in.c;
  if (pixel == 0 && channel % 4 == 0 && in.pixels() == out.pixels() && channel + out.c <= in.c &&
      reads(channel, {{out.pixels(), in.c}, {out.c, 1}}))
    return channel / 4 * in.pixels();
  if (channel == 0 && in.slices() == 1 && in.c == out.c && reads(view.base, {{out.pixels() * out.c, 1}})) return pixel;
  return std::nullopt;
}

// Whether the outermost digit only repeats. It needs no radix then: the kernel drops the rest of the index.
bool IsOutermostFree(const StridedView& view) {
  return !view.digits.empty() && view.digits.front().stride == 0;
}

// The number of digits that the kernel counts.
size_t DigitsOf(const StridedView& view) {
  return view.digits.size() - (IsOutermostFree(view) ? 1 : 0);
}

KernelCall CopyCallOf(const PlanBuilder& builder, ValueId x, ValueId y, StridedView view) {
  const Bhwc in = builder.ShapeOf(x), out = builder.ShapeOf(y);
  if (IsOutermostFree(view)) view.digits.erase(view.digits.begin());
  HEARTH_CHECK(view.digits.size() <= kKernelDigits);
  KernelCall call = CopyCall(UnitsOf(view, in, out), in, out);
  call.stores_each_texel_once = true;
  call.tensors =
      TensorsOf<kernels::StridedCopy>({{"x", {Operand::Kind::kValue, x}}, {"y", {Operand::Kind::kValue, y}}});
  return call;
}

// The output as a view of an existing value: the input, or the source that the input would be copied from.
PlanBuilder::Deferred Source(const PlanBuilder& builder, ValueId x, const StridedView& view) {
  PlanBuilder::Deferred moved;
  const auto* before = builder.DeferredAt(x);
  const auto both = before == nullptr ? std::nullopt : Composed(view, before->view);
  const bool goes_on = both && both->digits.size() <= kKernelDigits;
  moved.source = goes_on ? before->source : x;
  moved.view = goes_on ? *both : view;
  moved.is_only_reader = builder.IsReadOnce(x) && (!goes_on || before->is_only_reader);
  return moved;
}

Status LowerOutput(const Node& node, size_t output, PlanBuilder& builder) {
  const Graph& graph = builder.graph();
  const ValueId y = node.outputs[output];
  PlanBuilder::Deferred moved = Source(builder, node.inputs[0], *ViewOf(graph, node, output));
  const ValueId x = moved.source;
  const Bhwc in = builder.ShapeOf(x), out = builder.ShapeOf(y);
  const bool is_alike = builder.HoldAlike(x, y) && !graph.IsConstant(x);
  // With equal channels every texel stays in place: pixels are in C order regardless of b, h and w.
  const bool same_values = graph.value(x).desc.quantization == graph.value(y).desc.quantization;
  if (moved.view.is_identity() && in.pixels() == out.pixels() && in.c == out.c && same_values && !graph.IsConstant(x)) {
    return builder.Alias(node, y, x);
  }
  if (const auto first = is_alike ? FirstTexel(moved.view, in, out) : std::nullopt) {
    if (builder.AliasPart(y, x, *first)) return Status::Ok();
  }
  moved.node = &node;
  moved.call = CopyCallOf(builder, x, y, moved.view);
  // Deferring the copy of a part would keep the whole value in memory longer.
  const bool is_all = graph.value(x).desc.shape.element_count() == graph.value(y).desc.shape.element_count();
  if (is_alike && is_all && moved.is_only_reader && StoresThrough(node, x, y, moved.view, builder)) return Status::Ok();
  if (is_alike && (is_all || x != node.inputs[0])) return builder.Defer(y, std::move(moved));
  for (auto& [name, operand] : moved.call.tensors) operand = builder.Tensor(operand.id);
  return builder.Call(node, moved.call);
}

}  // namespace

std::optional<std::string> StridedCopyUnsupported(const Graph& graph, const Node& node, const Placing& placing) {
  for (size_t output = 0; output < node.outputs.size(); ++output) {
    const std::optional<StridedView> view = ViewOf(graph, node, output);
    if (view && DigitsOf(*view) > kKernelDigits) {
      return fmt::format("elements move along {} dimensions, kernels take {}", DigitsOf(*view), kKernelDigits);
    }
  }
  return WideIntegers(graph, node, placing);
}

Status LowerStridedCopy(const Node& node, PlanBuilder& builder) {
  for (size_t output = 0; output < node.outputs.size(); ++output) HEARTH_TRY(LowerOutput(node, output, builder));
  return Status::Ok();
}

}  // namespace hearth
