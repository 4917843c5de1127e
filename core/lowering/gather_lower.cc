#include <fmt/format.h>

#include "core/base/error.h"
#include "core/graph/ops/axis_split.h"
#include "core/lowering/lowering_support.h"
#include "core/lowering/op_lowerings.h"

namespace hearth {
namespace {

// int64 indices need no check: those beyond 32 bits saturate on the way to the device, and stay outside of any
// dimension.
std::optional<std::string> WideValues(const Placing& placing, std::initializer_list<ValueId> values) {
  for (ValueId value : values) {
    if (!placing.fits_32_bits[value]) return "its integers have 64 bits, a device's have 32";
  }
  return std::nullopt;
}

// The output's size for the kernels; one work item per texel.
void AddOutput(KernelCall& call, const Bhwc& out) {
  call.scalars.insert(call.scalars.end(), {{"OPIX", out.pixels()}, {"OC", out.c}});
  UseLines(out.pixels(), out.slices(), call);
}

}  // namespace

std::optional<std::string> GatherUnsupported(const Graph&, const Node& node, const Placing& placing) {
  return WideValues(placing, {node.inputs[0]});
}

std::optional<std::string> GatherNdUnsupported(const Graph& graph, const Node& node, const Placing& placing) {
  const int32_t depth = ToBhwc(graph.value(node.inputs[1]).desc.shape).c;
  if (depth > kMaxKernelRank) return fmt::format("it counts {} dimensions, kernels take {}", depth, kMaxKernelRank);
  return GatherUnsupported(graph, node, placing);
}

Status LowerGather(const Node& node, PlanBuilder& builder) {
  const Graph& graph = builder.graph();
  const GatherSplit split = SplitGather(std::get<Gather>(node.op), graph.value(node.inputs[0]).desc.shape,
                                        graph.value(node.inputs[1]).desc.shape);
  const Bhwc x = builder.ShapeOf(node.inputs[0]), indices = builder.ShapeOf(node.inputs[1]);
  KernelCall call = NodeCallOf<kernels::Gather>(builder, node);
  call.defines = {{"ELEMENTS", split.over_last ? "1" : "0"}};
  const int64_t inner = split.over_last ? 1 : split.inner / x.c;
  call.scalars = {{"IPIX", x.pixels()},       {"IC", x.c},
                  {"JPIX", indices.pixels()}, {"JC", indices.c},
                  {"OUTER", split.outer},     {"LENGTH", split.length},
                  {"COUNT", split.count},     {"INNER", inner}};
  AddOutput(call, builder.ShapeOf(node.outputs[0]));
  return builder.Call(node, call);
}

Status LowerGatherNd(const Node& node, PlanBuilder& builder) {
  const Shape& shape = builder.DescOf(node.inputs[0]).shape;
  const Bhwc x = ToBhwc(shape), indices = builder.ShapeOf(node.inputs[1]);
  const int depth = indices.c;
  const bool by_element = depth == shape.rank();
  // Strides in elements, or in pixels if whole texels move.
  const int strided_rank = by_element ? shape.rank() : shape.rank() - 1;
  static constexpr ScalarName kSizes[kMaxKernelRank] = {"D0", "D1", "D2", "D3", "D4", "D5"};
  static constexpr ScalarName kStrides[kMaxKernelRank] = {"S0", "S1", "S2", "S3", "S4", "S5"};
  KernelCall call = NodeCallOf<kernels::GatherNd>(builder, node);
  call.defines = {{"ELEMENTS", by_element ? "1" : "0"}};
  const int64_t inner = by_element ? 1 : CountBetween(shape, depth, strided_rank);
  call.scalars = {{"IPIX", x.pixels()}, {"IC", x.c}, {"JPIX", indices.pixels()}, {"DEPTH", depth}, {"INNER", inner}};
  for (int d = 0; d < kMaxKernelRank; ++d) {
    const bool is_used = d < depth;
    call.scalars.push_back({kSizes[d], is_used ? shape[d] : 1});
    const int64_t stride = is_used ? CountBetween(shape, d + 1, strided_rank) : 0;
    call.scalars.push_back({kStrides[d], stride});
  }
  AddOutput(call, builder.ShapeOf(node.outputs[0]));
  return builder.Call(node, call);
}

std::optional<std::string> OneHotUnsupported(const Graph&, const Node& node, const Placing& placing) {
  return WideValues(placing, {node.inputs[1], node.inputs[2]});
}

Status LowerOneHot(const Node& node, PlanBuilder& builder) {
  const auto& one_hot = std::get<OneHot>(node.op);
  const OneHotSplit split = SplitOneHot(one_hot, builder.DescOf(node.inputs[0]).shape);
  const Bhwc indices = builder.ShapeOf(node.inputs[0]);
  KernelCall call = NodeCallOf<kernels::OneHot>(builder, node);
  call.scalars = {{"JPIX", indices.pixels()}, {"JC", indices.c}, {"DEPTH", one_hot.depth}, {"SUFFIX", split.suffix}};
  AddOutput(call, builder.ShapeOf(node.outputs[0]));
  return builder.Call(node, call);
}

std::optional<std::string> DynamicUpdateSliceUnsupported(const Graph& graph, const Node& node, const Placing& placing) {
  const int rank = graph.value(node.inputs[0]).desc.shape.rank();
  if (rank > kMaxKernelRank) return fmt::format("it counts {} dimensions, kernels take {}", rank, kMaxKernelRank);
  return WideIntegers(graph, node, placing);
}

Status LowerDynamicUpdateSlice(const Node& node, PlanBuilder& builder) {
  static constexpr ScalarName kOut[] = {"O1", "O2", "O3", "O4", "O5"};
  static constexpr ScalarName kUpdate[] = {"U1", "U2", "U3", "U4", "U5"};
  const Shape& shape = builder.DescOf(node.inputs[0]).shape;
  const Shape& update_shape = builder.DescOf(node.inputs[1]).shape;
  const Bhwc update = builder.ShapeOf(node.inputs[1]), out = builder.ShapeOf(node.outputs[0]);
  const int last = shape.rank() - 1;
  HEARTH_TRY(builder.Call(node, MapCall(builder, node.inputs[0], node.outputs[0])));
  const Operand y = builder.Tensor(node.outputs[0]);
  KernelCall call = CallOf<kernels::DynamicUpdateSlice>(
      {{"update", builder.Tensor(node.inputs[1])}, {"start", builder.Tensor(node.inputs[2])}, {"before", y}, {"y", y}});
  call.buffer_reads = {"before"};
  call.defines = {{"WHOLE_TEXELS", update.c == out.c ? "1" : "0"}};
  call.scalars = {{"UC", update.c}, {"UPIX", update.pixels()}, {"OC", out.c}, {"OPIX", out.pixels()}, {"LAST", last}};
  for (int k = 1; k < kMaxKernelRank; ++k) {
    call.scalars.push_back({kOut[k - 1], k <= last ? shape[last - k] : 1});
    call.scalars.push_back({kUpdate[k - 1], k <= last ? update_shape[last - k] : 1});
  }
  UseLines(update.pixels(), out.slices(), call);
  return builder.Call(node, call);
}

}  // namespace hearth
