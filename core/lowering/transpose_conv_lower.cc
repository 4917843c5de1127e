#include <algorithm>

#include "core/base/numbers.h"
#include "core/device/device_rules.h"
#include "core/device/group_size.h"
#include "core/lowering/lowering_support.h"
#include "core/lowering/op_lowerings.h"

namespace hearth {
namespace {

// GPUs hide latency by many work items, so their tiles are smaller.
KernelChoice TileFor(const DeviceInfo& device) {
  if (Applies(Rule::kShortGroups, device)) return {"tile", 4, 2, 8};
  return {"tile", 2, 1, static_cast<int>(GroupItems(device))};
}

std::vector<NamedScalar> Geometry(const TransposeConv& conv, const Shape& filter, const Bhwc& in, const Bhwc& out) {
  const Window2D window = {.stride_h = conv.stride_h, .stride_w = conv.stride_w, .padding = conv.padding};
  const Padding2D padding = ResolvePadding(window, out.h, out.w, filter[1], filter[2]);
  return {{"IH", in.h},
          {"IW", in.w},
          {"IPIX", in.pixels()},
          {"OH", out.h},
          {"OW", out.w},
          {"OPIX", out.pixels()},
          {"PH", Tiles(out.h, conv.stride_h)},
          {"PW", Tiles(out.w, conv.stride_w)},
          {"BATCH", out.b},
          {"FY", std::min(conv.stride_h, out.h)},
          {"FX", std::min(conv.stride_w, out.w)},
          {"SH", conv.stride_h},
          {"SW", conv.stride_w},
          {"KH", filter[1]},
          {"KW", filter[2]},
          {"PT", padding.top},
          {"PL", padding.left},
          {"K4", in.slices()},
          {"N4", out.slices()},
          {"I", in.c},
          {"O", out.c}};
}

// Places a phase's pixels along the grid's first dimension. If divisions are slow, a tile stays within a line, unless
// the lines are so short that much of it would be idle.
void SetGrid(const DeviceInfo& device, const TransposeConv& conv, const Bhwc& out, const KernelChoice& tile,
             KernelCall& call) {
  const bool wide = tile.variant == "wide";
  const int64_t high = Tiles(out.h, conv.stride_h), across = Tiles(out.w, conv.stride_w);
  const int64_t phases_y = std::min(conv.stride_h, out.h), phases_x = std::min(conv.stride_w, out.w);
  const int lanes = FittingLanes(device, tile.lanes);
  const int64_t items_a_tile = wide ? 1 : lanes;
  const int64_t tile_pixels = tile.rows * items_a_tile;
  const int64_t columns = Tiles(out.slices(), wide ? 4 : tile.cols);
  call.local_size = {static_cast<uint32_t>(lanes), 1, 1};
  const bool lines =
      Applies(Rule::kTilesWithinLines, device) && Tiles(across, tile_pixels) * tile_pixels <= across * 3 / 2;
  if (wide || lines) {
    call.work_items = {Tiles(across, tile_pixels) * items_a_tile, high * out.b, columns * phases_y * phases_x};
  } else {
    call.work_items = {Tiles(out.b * high * across, tile_pixels) * items_a_tile, columns * phases_x, phases_y};
  }
  if (!wide) {
    call.defines.push_back({"LANES", std::to_string(lanes)});
    call.defines.push_back({"LINES", lines ? "1" : "0"});
  }
}

}  // namespace

std::vector<KernelChoice> TransposeConvCandidates(const Node& node, const PlanBuilder& builder) {
  std::vector<KernelChoice> candidates = {TileFor(builder.device())};
  const int lanes = candidates.front().lanes;
  const Graph& graph = builder.graph();
  const bool constant_bias = InputOf(node, 2) == kNoValue || graph.IsConstant(node.inputs[2]);
  if (Applies(Rule::kWideVectors, builder.device()) && graph.IsConstant(node.inputs[1]) && constant_bias &&
      !builder.DecidesIndices(node.outputs[0])) {
    for (int rows : {4, 6, 3, 2}) candidates.push_back({"wide", rows, 1, 8});
    // With at most 8 channels half of a vector is idle; with 32 the wide kernel is 2.8 times as fast (PoCL 3.1).
    if (builder.ShapeOf(node.outputs[0]).c > 8) std::swap(candidates[0], candidates[1]);
  }
  for (const auto& [rows, cols] : {std::pair{2, 1}, {4, 1}, {8, 1}, {4, 2}, {2, 2}, {8, 2}, {1, 1}}) {
    candidates.push_back({"tile", rows, cols, lanes});
  }
  for (KernelChoice& choice : candidates)
    choice.cols = std::min(choice.cols, builder.ShapeOf(node.outputs[0]).slices());
  return WithoutRepeats(std::move(candidates));
}

Status LowerTransposeConv(const Node& node, PlanBuilder& builder) {
  const auto& conv = std::get<TransposeConv>(node.op);
  const TensorDesc& filter = builder.DescOf(node.inputs[1]);
  const Shape& dims = filter.shape;
  const bool computed_filter = !builder.graph().IsConstant(node.inputs[1]);
  const Bhwc in = builder.ShapeOf(node.inputs[0]);
  const Bhwc out = builder.ShapeOf(node.outputs[0]);
  const KernelChoice tile = builder.Choose(node);
  const bool wide = tile.variant == "wide";
  const int32_t width = wide ? 16 : 4;
  KernelCall call;
  call.kernel = wide ? KernelName("transpose_conv_wide") : KernelName("transpose_conv");
  call.stores_each_texel_once = true;
  call.defines = {{"ROWS", std::to_string(tile.rows)}};
  if (!wide) {
    call.defines.push_back({"COLS", std::to_string(tile.cols)});
    call.defines.push_back({"RUNTIME", computed_filter ? "1" : "0"});
  }
  const PackRecipe recipe{PackLayout::kMatrix, filter, width, {dims[0], dims[1], dims[2], dims[3]}};
  call.tensors = {{"x", builder.Tensor(node.inputs[0])},
                  {"w", computed_filter ? builder.Tensor(node.inputs[1]) : builder.Packed(node.inputs[1], recipe)},
                  {"bias", BiasOperand(builder, InputOf(node, 2), out.c, width)},
                  {"y", builder.Tensor(node.outputs[0])}};
  call.scalars = Geometry(conv, dims, in, out);
  SetGrid(builder.device(), conv, out, tile, call);
  call.epilogue = ActivationEpilogue(conv.activation);
  return builder.Call(node, call);
}

}  // namespace hearth
