#include "core/ops/matrix_call.h"

#include <fmt/format.h>

#include "core/ops/lowering_support.h"

namespace hearth {
namespace {

constexpr int kWideRows = 6;  // pointwise_wide: 12 accumulator registers of 256 bits; 7 spill
constexpr int kWideConvRows = 4;

// The tile of a kernel whose work items read neighbouring pixels.
struct Tile {
  int rows, cols, lanes;
};

Tile TileFor(const DeviceInfo& device, const MatrixShapes& shapes, int32_t slices_out) {
  if (device.is_software()) return shapes.is_pointwise ? Tile{8, 2, 8} : Tile{4, 2, 8};
  // A GPU hides latency with many work items: smaller tiles where there are few pixels.
  const int lanes = device.max_local_invocations >= 64 ? 32 : 8;
  const int64_t items = Tiles(shapes.pixels, 4) * Tiles(slices_out, 2);
  return items >= int64_t{device.compute_units} * 128 ? Tile{4, 2, lanes} : Tile{2, 1, lanes};
}

void UseWideTile(const MatrixShapes& shapes, int32_t slices_out, KernelCall& call) {
  const int rows = shapes.is_pointwise ? kWideRows : kWideConvRows;
  call.defines = {{"ROWS", std::to_string(rows)}};
  call.work_items = {Tiles(shapes.pixels, rows), Tiles(slices_out, 4), 1};
}

void UseTile(const Tile& tile, const MatrixShapes& shapes, int32_t slices_out, KernelCall& call) {
  call.defines = {
      {"ROWS", std::to_string(tile.rows)}, {"COLS", std::to_string(tile.cols)}, {"LANES", std::to_string(tile.lanes)}};
  call.local_size = {static_cast<uint32_t>(tile.lanes), 1, 1};
  call.work_items = {Tiles(shapes.pixels, int64_t{tile.rows} * tile.lanes) * tile.lanes, Tiles(slices_out, tile.cols),
                     1};
}

}  // namespace

int64_t Tiles(int64_t size, int64_t tile) {
  return (size + tile - 1) / tile;
}

KernelCall MatrixCall(PlanBuilder& builder, const Node& node, const MatrixShapes& shapes) {
  const bool wide = PrefersWideVectors(builder.device());
  const int32_t width = wide ? 16 : 4;
  const int32_t channels_out = shapes.filter[0];
  const auto slices_out = static_cast<int32_t>(Tiles(channels_out, 4));
  const ValueId bias = node.inputs.size() > 2 ? node.inputs[2] : kNoValue;
  const PackRecipe recipe{PackLayout::kMatrix, builder.graph().value(node.inputs[1]).desc, width, shapes.filter};
  KernelCall call;
  call.kernel = fmt::format("{}_{}", shapes.is_pointwise ? "pointwise" : "conv", wide ? "wide" : "tile");
  call.tensors = {{"x", builder.Tensor(node.inputs[0])},
                  {"w", builder.Packed(node.inputs[1], recipe)},
                  {"bias", BiasOperand(builder, bias, channels_out, width)},
                  {"y", builder.Tensor(node.outputs[0])}};
  call.scalars = {{"M", static_cast<int32_t>(shapes.pixels)},
                  {"K4", static_cast<int32_t>(Tiles(shapes.filter[3], 4))},
                  {"N4", slices_out}};
  if (wide) {
    UseWideTile(shapes, slices_out, call);
  } else {
    UseTile(TileFor(builder.device(), shapes, slices_out), shapes, slices_out, call);
  }
  return call;
}

}  // namespace hearth
