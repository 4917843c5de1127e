#include <fmt/format.h>

#include "core/error.h"
#include "core/ops/convolution.h"
#include "core/ops/lowering_support.h"

namespace hearth {
namespace {

constexpr int kWideRows = 6;  // pointwise_wide: 12 accumulator registers of 256 bits; 7 spill
constexpr int kWideConvRows = 4;

ValueId BiasOf(const Node& node) {
  return node.inputs.size() > 2 ? node.inputs[2] : kNoValue;
}

int64_t Tiles(int64_t size, int64_t tile) {
  return (size + tile - 1) / tile;
}

bool IsPointwise(const Window2D& window, const Padding2D& padding, const Shape& filter) {
  return filter[1] == 1 && filter[2] == 1 && window.stride_h == 1 && window.stride_w == 1 && padding.top == 0 &&
         padding.bottom == 0 && padding.left == 0 && padding.right == 0;
}

// The tile of a kernel that reads `LANES` neighbouring pixels at a time.
struct Tile {
  int rows, cols, lanes;
};

Tile TileFor(const DeviceInfo& device, const Bhwc& out, bool pointwise) {
  if (device.is_software()) return pointwise ? Tile{8, 2, 8} : Tile{4, 2, 8};
  // A GPU hides latency with many work items: smaller tiles where there are few pixels.
  const int lanes = device.max_local_invocations >= 64 ? 32 : 8;
  const int64_t items = Tiles(out.pixels(), 4) * Tiles(out.slices(), 2);
  return items >= int64_t{device.compute_units} * 128 ? Tile{4, 2, lanes} : Tile{2, 1, lanes};
}

std::vector<Define> TileDefines(const Tile& tile) {
  return {
      {"ROWS", std::to_string(tile.rows)}, {"COLS", std::to_string(tile.cols)}, {"LANES", std::to_string(tile.lanes)}};
}

struct ConvShapes {
  Bhwc in, out;
  Shape filter;
  Padding2D padding;
};

Operand MatrixOperand(PlanBuilder& builder, ValueId weights, const Shape& filter, int32_t width) {
  return builder.Packed(
      weights,
      {PackLayout::kMatrix, builder.graph().value(weights).desc, width, {filter[0], filter[1], filter[2], filter[3]}});
}

// What pointwise and general convolution share: operands, M, K4, N4 and the work items of the tile.
KernelCall MatrixCall(PlanBuilder& builder, const Node& node, const ConvShapes& shapes, bool pointwise) {
  const bool wide = PrefersWideVectors(builder.device());
  const int32_t width = wide ? 16 : 4;
  KernelCall call;
  call.kernel = fmt::format("{}_{}", pointwise ? "pointwise" : "conv", wide ? "wide" : "tile");
  call.tensors = {{"x", builder.Tensor(node.inputs[0])},
                  {"w", MatrixOperand(builder, node.inputs[1], shapes.filter, width)},
                  {"bias", BiasOperand(builder, BiasOf(node), shapes.out.c, width)},
                  {"y", builder.Tensor(node.outputs[0])}};
  call.scalars = {
      {"M", static_cast<int32_t>(shapes.out.pixels())}, {"K4", shapes.in.slices()}, {"N4", shapes.out.slices()}};
  if (wide) {
    const int rows = pointwise ? kWideRows : kWideConvRows;
    call.defines = {{"ROWS", std::to_string(rows)}};
    call.work_items = {Tiles(shapes.out.pixels(), rows), Tiles(shapes.out.slices(), 4), 1};
  } else {
    const Tile tile = TileFor(builder.device(), shapes.out, pointwise);
    call.defines = TileDefines(tile);
    call.local_size = {static_cast<uint32_t>(tile.lanes), 1, 1};
    call.work_items = {Tiles(shapes.out.pixels(), int64_t{tile.rows} * tile.lanes) * tile.lanes,
                       Tiles(shapes.out.slices(), tile.cols), 1};
  }
  return call;
}

}  // namespace

std::optional<std::string> Conv2DUnsupported(const Graph& graph, const Node& node, const DeviceInfo&) {
  if (auto reason = NotFloat(graph, node)) return reason;
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
  const ConvShapes shapes{in, builder.ShapeOf(node.outputs[0]), filter,
                          ResolvePadding(conv.window, in.h, in.w, filter[1], filter[2])};
  const bool pointwise = IsPointwise(conv.window, shapes.padding, filter);
  KernelCall call = MatrixCall(builder, node, shapes, pointwise);
  if (!pointwise) {
    const std::vector<std::pair<std::string_view, Scalar>> geometry = {{"IH", in.h},
                                                                       {"IW", in.w},
                                                                       {"IPIX", static_cast<int32_t>(in.pixels())},
                                                                       {"OH", shapes.out.h},
                                                                       {"OW", shapes.out.w},
                                                                       {"KH", filter[1]},
                                                                       {"KW", filter[2]},
                                                                       {"SH", conv.window.stride_h},
                                                                       {"SW", conv.window.stride_w},
                                                                       {"DH", conv.window.dilation_h},
                                                                       {"DW", conv.window.dilation_w},
                                                                       {"PT", shapes.padding.top},
                                                                       {"PL", shapes.padding.left}};
    call.scalars.insert(call.scalars.end(), geometry.begin(), geometry.end());
  }
  call.epilogue = ActivationEpilogue(conv.activation);
  return builder.Call(node, call);
}

std::optional<std::string> DepthwiseConv2DUnsupported(const Graph& graph, const Node& node, const DeviceInfo&) {
  if (auto reason = NotFloat(graph, node)) return reason;
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
                  {"bias", BiasOperand(builder, BiasOf(node), out.c, 4)},
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
