#include "core/ops/lowering_support.h"
#include "core/ops/reduce.h"

namespace hearth {
namespace {

// Bits 0 to 3: batch, height, width, channels of a tensor of rank 4 or less.
uint32_t BhwcMask(uint32_t axes_mask, int rank) {
  constexpr uint32_t kAxes[5][4] = {{}, {8}, {1, 8}, {1, 4, 8}, {1, 2, 4, 8}};
  uint32_t mask = 0;
  for (int d = 0; d < rank; ++d) {
    if ((axes_mask >> d & 1) != 0) mask |= kAxes[rank][d];
  }
  return mask;
}

}  // namespace

std::optional<std::string> ReduceUnsupported(const Graph& graph, const Node& node, const DeviceInfo&) {
  if (auto reason = NotReal(graph, node)) return reason;
  if (std::get<Reduce>(node.op).kind != ReduceKind::kMean) return "only means have a device kernel";
  const Shape& in = graph.value(node.inputs[0]).desc.shape;
  if (in.rank() > 4) return "mean of rank 5 has no device kernel";
  const Bhwc shape = ToBhwc(in);
  uint32_t mask = BhwcMask(std::get<Reduce>(node.op).axes_mask, in.rank());
  if (shape.h == 1) mask |= 2;
  if (shape.w == 1) mask |= 4;
  if ((mask & 7) != 6) return "mean over other dimensions than height and width has no device kernel";
  // Without keep_dims the batch of a mean over channels too becomes the last dimension, where channels are stored.
  const Bhwc out = ToBhwc(graph.value(node.outputs[0]).desc.shape);
  if (out.b != shape.b) return "a mean that leaves only the batch has no device kernel without keep_dims";
  return std::nullopt;
}

Status LowerReduce(const Node& node, PlanBuilder& builder) {
  const Shape& in_shape = builder.graph().value(node.inputs[0]).desc.shape;
  const Bhwc in = ToBhwc(in_shape);
  const bool over_channels = (BhwcMask(std::get<Reduce>(node.op).axes_mask, in_shape.rank()) & 8) != 0;
  const int32_t slices = over_channels ? 1 : in.slices();
  KernelCall call;
  call.kernel = "mean";
  call.defines = {{"CHANNEL_MEAN", over_channels ? "1" : "0"}};
  call.tensors = {{"x", builder.Tensor(node.inputs[0])}, {"y", builder.Tensor(node.outputs[0])}};
  call.scalars = {{"PIXELS_PER_BATCH", in.h * in.w},
                  {"IPIX", static_cast<int32_t>(in.pixels())},
                  {"IC", in.c},
                  {"N4", slices},
                  {"BATCH", in.b}};
  call.work_items = {slices, in.b, 1};
  return builder.Call(node, call);
}

}  // namespace hearth
