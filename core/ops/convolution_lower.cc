#include "core/error.h"
#include "core/ops/convolution.h"
#include "core/ops/lowering_support.h"
#include "core/ops/matrix_call.h"

namespace hearth {
namespace {

bool IsPointwise(const Window2D& window, const Padding2D& padding, const Shape& filter) {
  return filter[1] == 1 && filter[2] == 1 && window.stride_h == 1 && window.stride_w == 1 && padding.top == 0 &&
         padding.bottom == 0 && padding.left == 0 && padding.right == 0;
}

}  // namespace

std::optional<std::string> Conv2DUnsupported(const Graph& graph, const Node& node, const DeviceInfo&) {
  if (auto reason = NotReal(graph, node)) return reason;
  if (auto reason = RuntimeWeights(graph, node)) return reason;
  const Shape& in = graph.value(node.inputs[0]).desc.shape;
  const Shape& filter = graph.value(node.inputs[1]).desc.shape;
  if (in[3] != filter[3]) return "grouped convolution has no device kernel";
  return std::nullopt;
}

Status LowerConv2D(const Node& node, PlanBuilder& builder) {
  const auto& conv = std::get<Conv2D>(node.op);
  const Shape& filter = builder.graph().value(node.inputs[1]).desc.shape;
  const Bhwc in = builder.ShapeOf(node.inputs[0]);
  const Bhwc out = builder.ShapeOf(node.outputs[0]);
  const Padding2D padding = ResolvePadding(conv.window, in.h, in.w, filter[1], filter[2]);
  const bool is_pointwise = IsPointwise(conv.window, padding, filter);
  KernelCall call =
      MatrixCall(builder, node, {out.pixels(), {filter[0], filter[1], filter[2], filter[3]}, is_pointwise});
  if (!is_pointwise) {
    const std::vector<std::pair<std::string_view, Scalar>> geometry = {{"IH", in.h},
                                                                       {"IW", in.w},
                                                                       {"IPIX", static_cast<int32_t>(in.pixels())},
                                                                       {"OH", out.h},
                                                                       {"OW", out.w},
                                                                       {"KH", filter[1]},
                                                                       {"KW", filter[2]},
                                                                       {"SH", conv.window.stride_h},
                                                                       {"SW", conv.window.stride_w},
                                                                       {"DH", conv.window.dilation_h},
                                                                       {"DW", conv.window.dilation_w},
                                                                       {"PT", padding.top},
                                                                       {"PL", padding.left}};
    call.scalars.insert(call.scalars.end(), geometry.begin(), geometry.end());
  }
  call.epilogue = ActivationEpilogue(conv.activation);
  return builder.Call(node, call);
}

std::optional<std::string> DepthwiseConv2DUnsupported(const Graph& graph, const Node& node, const DeviceInfo&) {
  if (auto reason = NotReal(graph, node)) return reason;
  return RuntimeWeights(graph, node);
}

Status LowerDepthwiseConv2D(const Node& node, PlanBuilder& builder) {
  const auto& conv = std::get<DepthwiseConv2D>(node.op);
  const Window2D& window = conv.window;
  const Shape& filter = builder.graph().value(node.inputs[1]).desc.shape;
  const Bhwc in = builder.ShapeOf(node.inputs[0]);
  const Bhwc out = builder.ShapeOf(node.outputs[0]);
  const Padding2D padding = ResolvePadding(window, in.h, in.w, filter[1], filter[2]);
  // A tile shares texels along an axis only where its outputs stand one dilation apart; see the kernel.
  const bool tile_x = window.dilation_w == 1 || window.stride_w == 1;
  const bool tile_y = window.dilation_h == 1 || window.stride_h == 1;
  const bool graphics_cpu = builder.device().is_software() && builder.device().dialect != Dialect::kOpenCl;
  const bool small_window = filter[1] * filter[2] <= 9;  // past that the unrolled text compiles too long
  const int tx = tile_x && small_window && !graphics_cpu ? 4 : 1;
  const int ty = tile_y && small_window && graphics_cpu ? 4 : 1;
  KernelCall call;
  call.kernel = "depthwise";
  call.defines = {{"KH", std::to_string(filter[1])},
                  {"KW", std::to_string(filter[2])},
                  {"SH", std::to_string(window.stride_h)},
                  {"SW", std::to_string(window.stride_w)},
                  {"TX", std::to_string(tx)},
                  {"TY", std::to_string(ty)},
                  {"MULTIPLIER", std::to_string(out.c / in.c)}};
  call.tensors = {{"x", builder.Tensor(node.inputs[0])},
                  {"w", builder.Packed(node.inputs[1], {PackLayout::kDepthwise,
                                                        builder.graph().value(node.inputs[1]).desc,
                                                        4,
                                                        {1, filter[1], filter[2], filter[3]}})},
                  {"bias", BiasOperand(builder, node.inputs.size() > 2 ? node.inputs[2] : kNoValue, out.c, 4)},
                  {"y", builder.Tensor(node.outputs[0])}};
  call.scalars = ImageScalars(in, out);
  // Without a tile along an axis the kernel still steps its taps by the dilation, but the outputs are neighbours.
  for (const auto& [name, number] :
       {std::pair{"DH", window.dilation_h}, {"DW", window.dilation_w}, {"PT", padding.top}, {"PL", padding.left}}) {
    call.scalars.emplace_back(name, number);
  }
  call.work_items = {Tiles(out.w, int64_t{tx} * window.dilation_w) * window.dilation_w,
                     Tiles(out.h, int64_t{ty} * window.dilation_h) * window.dilation_h, int64_t{out.slices()} * out.b};
  call.epilogue = ActivationEpilogue(conv.activation);
  return builder.Call(node, call);
}

}  // namespace hearth
