#include "core/error.h"
#include "core/ops/fully_connected.h"
#include "core/ops/lowering_support.h"

namespace hearth {
namespace {
int64_t Tiles(int64_t size, int64_t tile) {
  return (size + tile - 1) / tile;
}
}  // namespace

std::optional<std::string> FullyConnectedUnsupported(const Graph& graph, const Node& node, const DeviceInfo&) {
  if (auto reason = NotFloat(graph, node)) return reason;
  if (auto reason = RuntimeWeights(graph, node)) return reason;
  const Bhwc in = ToBhwc(graph.value(node.inputs[0]).desc.shape);
  const Shape& filter = graph.value(node.inputs[1]).desc.shape;
  if (in.c != filter[1]) return "its input must be flattened first";
  return std::nullopt;
}

// A 1x1 convolution over `rows` pixels.
Status LowerFullyConnected(const Node& node, PlanBuilder& builder) {
  const auto& fc = std::get<FullyConnected>(node.op);
  const Shape& filter = builder.graph().value(node.inputs[1]).desc.shape;
  const bool wide = PrefersWideVectors(builder.device());
  const int32_t width = wide ? 16 : 4;
  const int64_t rows = builder.ShapeOf(node.inputs[0]).pixels();
  const Bhwc out{1, 1, 1, filter[0]};
  KernelCall call;
  call.kernel = wide ? "pointwise_wide" : "pointwise_tile";
  call.tensors = {{"x", builder.Tensor(node.inputs[0])},
                  {"w", builder.Packed(node.inputs[1], {PackLayout::kMatrix,
                                                        builder.graph().value(node.inputs[1]).desc,
                                                        width,
                                                        {filter[0], 1, 1, filter[1]}})},
                  {"bias", BiasOperand(builder, node.inputs.size() > 2 ? node.inputs[2] : kNoValue, filter[0], width)},
                  {"y", builder.Tensor(node.outputs[0])}};
  call.scalars = {{"M", static_cast<int32_t>(rows)}, {"K4", (filter[1] + 3) / 4}, {"N4", out.slices()}};
  const int tile_rows = wide ? 6 : 8;
  call.work_items = wide ? std::array<int64_t, 3>{Tiles(rows, tile_rows), Tiles(out.slices(), 4), 1}
                         : std::array<int64_t, 3>{Tiles(rows, tile_rows * 8) * 8, Tiles(out.slices(), 2), 1};
  call.epilogue = ActivationEpilogue(fc.activation);
  return builder.Call(node, call);
}

}  // namespace hearth
