#include "core/lowering/lowering_support.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "core/base/error.h"
#include "core/base/numbers.h"
#include "core/device/device_rules.h"
#include "core/graph/element.h"
#include "core/graph/op_def.h"
#include "core/graph/ops/elementwise_table.h"
#include "core/graph/quantize.h"
#include "core/lowering/loop_iterations.h"

namespace hearth {
namespace {

int32_t SaturateToInt32(float number) {
  if (number >= 0x1p31f) return std::numeric_limits<int32_t>::max();
  if (number < -0x1p31f) return std::numeric_limits<int32_t>::min();
  return static_cast<int32_t>(number);
}

bool ConstantFitsInt32(const Graph& graph, ValueId value) {
  const OrderedBytes read = graph.ReadConstant(value);
  const int64_t count = graph.value(value).desc.shape.element_count();
  for (int64_t i = 0; i < count; ++i) {
    const double number = LoadElement(DType::kInt64, read.bytes, i);
    if (number < std::numeric_limits<int32_t>::min() || number > std::numeric_limits<int32_t>::max()) return false;
  }
  return true;
}

// Whether each output element is an input element or 0.
bool MovesElements(const Op& op) {
  if (const auto* binary = std::get_if<Binary>(&op)) {
    return binary->kind == BinaryKind::kMaximum || binary->kind == BinaryKind::kMinimum;
  }
  return OpDefOf(op).Has(kMovesElements);
}

bool IsPlainInt64(const TensorDesc& desc) {
  return desc.dtype == DType::kInt64 && !IsQuantized(desc);
}

// Whether all numbers of the type fit into int32.
bool IsNarrow(DType dtype) {
  return dtype != DType::kInt64 && dtype != DType::kUInt32 && dtype != DType::kUInt64 && !IsFloat(dtype);
}

// The inputs whose integers `output` may contain, beside integers that fit into 32 bits; nothing if they may be others.
std::optional<std::span<const ValueId>> SourcesOfIntegers(const Graph& graph, const Node& node, ValueId output) {
  const std::span<const ValueId> inputs = node.inputs;
  const bool is_unique = std::holds_alternative<Unique>(node.op);
  const bool casts = std::holds_alternative<Cast>(node.op);
  const bool counts = IsOneOf<ArgReduce, Where>(node.op) || (is_unique && output == node.outputs[1]) ||
                      (casts && IsNarrow(graph.value(inputs[0]).desc.dtype));
  if (counts) return inputs.first(0);
  if (is_unique) return inputs.first(1);
  return !casts && MovesElements(node.op) ? std::optional(inputs) : std::nullopt;
}

}  // namespace

std::vector<EpilogueStep> ActivationEpilogue(Activation activation, std::string_view suffix) {
  if (activation == Activation::kNone) return {};
  if (const auto bounds = ActivationBounds(activation)) {
    const std::string lowest = fmt::format("act_lowest{}", suffix), highest = fmt::format("act_highest{}", suffix);
    return {{{StatementForm::kClamp}, {}, {{lowest, bounds->first}, {highest, bounds->second}}}};
  }
  return {{{StatementForm::kUnary, ElementFunction::Of(UnaryOf(activation))}, {}, {}}};
}

std::vector<EpilogueStep> IntegerActivationEpilogue(Activation activation) {
  const auto bounds = ActivationBounds(activation);
  if (activation == Activation::kNone || !bounds.has_value()) return {};
  return {{{StatementForm::kIntegerClamp},
           {},
           {{"act_lowest", SaturateToInt32(bounds->first)}, {"act_highest", SaturateToInt32(bounds->second)}}}};
}

std::vector<EpilogueStep> IntegerWrapEpilogue(const TensorDesc& desc) {
  const int bits = BitsOf(desc.dtype);
  if (IsReal(desc) || bits >= 32) return {};
  const bool is_signed = desc.dtype != DType::kUInt8 && desc.dtype != DType::kUInt16;
  const int32_t lowest = is_signed ? -(1 << (bits - 1)) : 0;
  return {{{StatementForm::kIntegerWrap}, {}, {{"wrap_lowest", lowest}, {"wrap_mask", (1 << bits) - 1}}}};
}

void WrapIntegers(const Node& node, const PlanBuilder& builder, KernelCall& call) {
  const auto wrap = IntegerWrapEpilogue(builder.DescOf(node.outputs[0]));
  call.epilogue.insert(call.epilogue.end(), wrap.begin(), wrap.end());
}

void UseWholeLines(const DeviceInfo& device, KernelCall& call) {
  if (!Applies(Rule::kWideVectors, device)) return;
  call.defines.push_back({"RUN", "OW"});
  call.local_size = {1, 1, 1};
  call.work_items[0] = 1;
}

Operand BiasOperand(PlanBuilder& builder, ValueId bias, int32_t channels, int32_t width) {
  if (bias == kNoValue) return builder.Zeros(channels, width);
  if (!builder.graph().IsConstant(bias)) {
    HEARTH_CHECK(width == 4);
    return builder.Tensor(bias);
  }
  return builder.Packed(bias, {PackLayout::kLinear, builder.DescOf(bias), width, {channels, 1, 1, 1}});
}

std::vector<NamedScalar> ImageScalars(const Bhwc& in, const Bhwc& out) {
  return {{"IH", in.h},  {"IW", in.w},           {"IPIX", in.pixels()}, {"OH", out.h},
          {"OW", out.w}, {"OPIX", out.pixels()}, {"N4", out.slices()},  {"BATCH", out.b}};
}

std::vector<NamedScalar> WindowScalars(const Window2D& window, const Bhwc& in, const Bhwc& out, int32_t kernel_h,
                                       int32_t kernel_w) {
  const Padding2D padding = ResolvePadding(window, in.h, in.w, kernel_h, kernel_w);
  std::vector<NamedScalar> scalars = ImageScalars(in, out);
  scalars.insert(scalars.end(), {{"KH", kernel_h},
                                 {"KW", kernel_w},
                                 {"SH", window.stride_h},
                                 {"SW", window.stride_w},
                                 {"DH", window.dilation_h},
                                 {"DW", window.dilation_w},
                                 {"PT", padding.top},
                                 {"PL", padding.left}});
  return scalars;
}

void UseLines(int64_t pixels, int64_t depth, KernelCall& call, int64_t lanes, int64_t longest) {
  const int64_t length = std::min(pixels, longest);
  call.scalars.push_back({"LINE", length});
  call.work_items = {length * lanes, Tiles(pixels, length), depth};
}

uint32_t OneLaneGroup(const DeviceInfo& device) {
  return Applies(Rule::kShortGroups, device) ? 8 : 64;
}

int FittingLanes(const DeviceInfo& device, int wanted, uint64_t local_bytes) {
  uint64_t most = std::min(device.max_local_invocations, device.max_local_size[0]);
  if (local_bytes > 0) most = std::min(most, device.local_memory_bytes / local_bytes);
  while (wanted > 1 && static_cast<uint64_t>(wanted) > most) wanted /= 2;
  return wanted;
}

std::vector<KernelChoice> WithFittingLanes(const DeviceInfo& device, std::vector<KernelChoice> choices,
                                           uint64_t local_bytes) {
  std::erase_if(choices, [&](const KernelChoice& choice) {
    return FittingLanes(device, choice.lanes, local_bytes) < choice.lanes;
  });
  return choices;
}

int ChannelLanes(const DeviceInfo& device, int32_t slices) {
  constexpr int64_t kManySlices = 32;
  const bool has_many = slices >= (Applies(Rule::kOneItemSums, device) ? kManySlicesOfSoftware : kManySlices);
  return has_many ? FittingLanes(device, 32) : 1;
}

std::vector<KernelChoice> ChannelLaneChoices(const DeviceInfo& device, int32_t slices) {
  std::vector<KernelChoice> choices = {{"lanes", 1, 1, ChannelLanes(device, slices)}};
  for (int lanes : {1, 8, 32}) {
    if (lanes <= slices && 3 * int64_t{slices} / lanes <= MostLoopIterations(device))
      choices.push_back({"lanes", 1, 1, lanes});
  }
  return WithoutRepeats(WithFittingLanes(device, std::move(choices)));
}

std::vector<bool> ValuesThatFit32Bits(const Graph& graph) {
  const auto count = static_cast<ValueId>(graph.values().size());
  std::vector<bool> fits(count);
  // Nothing is known about the network's inputs and states.
  for (ValueId id = 0; id < count; ++id) {
    fits[id] = !IsPlainInt64(graph.value(id).desc) || (graph.IsConstant(id) && ConstantFitsInt32(graph, id));
  }
  const auto does_fit = [&](ValueId id) { return id == kNoValue || fits[id]; };
  for (const Node& node : graph.nodes()) {
    for (ValueId output : node.outputs) {
      if (fits[output]) continue;
      const std::optional<std::span<const ValueId>> sources = SourcesOfIntegers(graph, node, output);
      fits[output] = sources.has_value() && std::ranges::all_of(*sources, does_fit);
    }
  }
  return fits;
}

std::optional<std::string> NotReal(const Graph& graph, const Node& node, const Placing&) {
  for (const auto* list : {&node.inputs, &node.outputs}) {
    for (ValueId value : Present(*list)) {
      if (IsReal(graph.value(value).desc)) continue;
      return fmt::format("it works on {}, its device kernel takes real numbers",
                         DTypeName(graph.value(value).desc.dtype));  // no name: equal reasons make one warning
    }
  }
  return std::nullopt;
}

std::optional<std::string> WideIntegers(const Graph&, const Node& node, const Placing& placing) {
  for (ValueId value : Present(node.inputs)) {
    if (!placing.fits_32_bits[value]) return "its integers have 64 bits, a device's have 32";
  }
  return std::nullopt;
}

std::optional<std::string> WideResults(const Graph& graph, const Node& node, const Placing& placing) {
  for (ValueId value : node.outputs) {
    const TensorDesc& desc = graph.value(value).desc;
    if (IsPlainInt64(desc)) return "its integers have 64 bits, a device's have 32";
  }
  return WideIntegers(graph, node, placing);
}

}  // namespace hearth
