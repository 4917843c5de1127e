#include "core/lowering/cooperative_product.h"

#include <string>
#include <utility>

#include "core/base/numbers.h"
#include "core/device/device_rules.h"

namespace hearth {
namespace {

constexpr uint32_t kTexelBytes = 16;  // of the kernel's local arrays, at most
constexpr uint32_t kPadding = 2;      // texels after each row there, as in the kernel
constexpr uint32_t kTileTexels = 64;  // of the second array

struct GroupTile {
  int64_t pixels, channels, depth;
};

GroupTile TileOf(const DeviceInfo& device, const KernelChoice& choice) {
  const auto [rows, columns, depth] = device.matrix_shape;
  return {int64_t{choice.rows} * rows, int64_t{choice.cols} * columns, depth};
}

uint32_t LocalTexels(const GroupTile& tile) {
  return static_cast<uint32_t>(tile.pixels * (tile.depth / 4 + kPadding) + tile.depth * (tile.channels / 4 + kPadding));
}

// Whether each of the kernel's loops over texels gives every work item as many.
bool SharesEvenly(const DeviceInfo& device, const KernelChoice& choice) {
  const auto [rows, columns, depth] = device.matrix_shape;
  const GroupTile tile = TileOf(device, choice);
  return rows * columns / 4 % choice.lanes == 0 && tile.pixels * depth / 4 % choice.lanes == 0 &&
         tile.channels * depth / 4 % choice.lanes == 0;
}

bool FillsHalfATile(const GroupTile& tile, const ProductSize& size) {
  return size.pixels * 2 >= tile.pixels && size.channels_out * 2 >= tile.channels;
}

}  // namespace

std::vector<KernelChoice> CooperativeCandidates(const DeviceInfo& device, const ProductSize& size) {
  if (!IsPossible(Rule::kCooperativeMatrices, device) || device.subgroup_size > device.max_local_invocations ||
      device.subgroup_size > device.max_local_size[0])
    return {};
  std::vector<KernelChoice> candidates;
  for (const auto& [rows, cols] : {std::pair{2, 2}, {4, 4}, {4, 2}, {2, 4}, {2, 1}, {1, 2}, {1, 1}}) {
    KernelChoice choice{std::string(kCooperativeVariant), rows, cols, static_cast<int32_t>(device.subgroup_size)};
    const GroupTile tile = TileOf(device, choice);
    const bool fits = (LocalTexels(tile) + kTileTexels) * kTexelBytes <= device.local_memory_bytes &&
                      Tiles(size.pixels, tile.pixels) <= kMostGroups;
    if (fits && SharesEvenly(device, choice) && FillsHalfATile(tile, size)) candidates.push_back(std::move(choice));
  }
  return candidates;
}

void UseCooperative(const DeviceInfo& device, const ProductSize& size, const KernelChoice& choice, KernelCall& call) {
  const auto [rows, columns, depth] = device.matrix_shape;
  const GroupTile tile = TileOf(device, choice);
  const auto lanes = static_cast<uint32_t>(choice.lanes);
  call.kernel = "pointwise_matrix";
  call.defines = {{"TILE_M", std::to_string(rows)},
                  {"TILE_N", std::to_string(columns)},
                  {"TILE_K", std::to_string(depth)},
                  {"ROWS", std::to_string(choice.rows)},
                  {"COLS", std::to_string(choice.cols)},
                  {"LANES", std::to_string(lanes)},
                  {"HALF", "1"}};
  call.local_texels = LocalTexels(tile);
  call.local_size = {lanes, 1, 1};
  call.work_items = {Tiles(size.pixels, tile.pixels) * lanes, Tiles(size.channels_out, tile.channels), 1};
}

}  // namespace hearth
