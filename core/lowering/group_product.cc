#include "core/lowering/group_product.h"

#include <string>
#include <tuple>
#include <utility>

#include "core/base/numbers.h"
#include "core/device/device_rules.h"
#include "core/device/group_size.h"

namespace hearth {
namespace {

// ---- Flat ----

// Estimated for four GPUs (benchmarks/hardware.md): 128 and 512 work items per unit took 1 to 14 % longer.
constexpr int64_t kItemsOfUnit = 256;
// With fewer iterations per share, adding up the shares costs more than sharing gains.
constexpr int64_t kFewestIterations = 4;
constexpr int kMostShares = 8;
constexpr uint32_t kFewestLanes = 64, kMostLanes = 128;  // one wave; the kernel's local memory
constexpr uint32_t kFlatLocalBytes = 4096;

int64_t ItemsOf(const ProductSize& size, const KernelChoice& choice) {
  return Tiles(size.pixels, choice.rows) * Tiles(Tiles(size.channels_out, 4), choice.cols) * choice.lanes;
}

bool RunsFlat(const DeviceInfo& device) {
  const uint32_t lanes = GroupItems(device);
  return GroupsAreWaves(device) && lanes >= kFewestLanes && lanes <= kMostLanes &&
         device.local_memory_bytes >= kFlatLocalBytes;
}

KernelChoice FlatChoiceByRule(const DeviceInfo& device, const ProductSize& size) {
  const bool one_slice = size.channels_out <= 4;
  const bool few_rows = size.pixels <= 2 || (!size.is_pointwise && Applies(Rule::kTwoPixelTiles, device));
  KernelChoice choice{std::string(kFlatVariant), few_rows && !one_slice ? 2 : 4, one_slice ? 1 : 2, 1};
  const int64_t wanted = int64_t{device.compute_units} * kItemsOfUnit, iterations = Tiles(size.channels_in, 4);
  while (choice.lanes < kMostShares && ItemsOf(size, choice) < wanted &&
         iterations >= 2 * choice.lanes * kFewestIterations)
    choice.lanes *= 2;
  return choice;
}

// ---- Local ----

constexpr int kLocalItems = 64;
// A multiple of each number that TurnsOf gives. Longer slabs would leave too little local memory for other groups.
constexpr int kSlab = 4;
constexpr uint32_t kLocalTexelBytes = 16;

int ItemsDown(const KernelChoice& choice) {
  return kLocalItems / choice.lanes;
}

// Texels of the kernel's local arrays: the pixels, and the weights in rows padded by one texel.
uint32_t LocalTexels(const KernelChoice& choice) {
  return kSlab * (choice.lanes * choice.rows + 4 * (ItemsDown(choice) * choice.cols + 1));
}

// Pixels and groups of 4 channels that a work group makes.
int64_t PixelsOfGroup(const KernelChoice& choice) {
  return int64_t{choice.lanes} * choice.rows;
}
int64_t SlicesOfGroup(const KernelChoice& choice) {
  return int64_t{ItemsDown(choice)} * choice.cols;
}

bool FillsHalfAGroup(const KernelChoice& choice, const ProductSize& size) {
  return size.pixels * 2 >= PixelsOfGroup(choice) && Tiles(size.channels_out, 4) * 2 >= SlicesOfGroup(choice);
}

// ---- Cooperative ----

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

std::vector<KernelChoice> FlatCandidates(const DeviceInfo& device, const ProductSize& size) {
  if (!RunsFlat(device)) return {};
  std::vector<KernelChoice> candidates = {FlatChoiceByRule(device, size)};
  for (const auto& [rows, cols] : {std::pair{4, 2}, {4, 1}, {2, 2}}) {
    for (int shares = 1; shares <= kMostShares; shares *= 2) {
      const bool fits = cols * 4 < size.channels_out + 4 && shares * 4 < size.channels_in + 4;
      if (fits) candidates.push_back({std::string(kFlatVariant), rows, cols, shares});
    }
  }
  const int64_t most_items = kMostGroups * GroupItems(device);
  std::erase_if(candidates, [&](const KernelChoice& choice) { return ItemsOf(size, choice) > most_items; });
  return candidates;
}

void UseFlat(const DeviceInfo& device, const ProductSize& size, const KernelChoice& choice, KernelCall& call) {
  const uint32_t lanes = GroupItems(device);
  call.kernel = size.is_pointwise ? KernelName("pointwise_flat") : KernelName("conv_flat");
  call.defines = {{"ROWS", std::to_string(choice.rows)},
                  {"COLS", std::to_string(choice.cols)},
                  {"LANES", std::to_string(lanes)},
                  {"SPLIT", std::to_string(choice.lanes)}};
  call.local_size = {lanes, 1, 1};
  // A group has lanes / SPLIT tiles; the builder rounds up to whole groups.
  call.work_items = {ItemsOf(size, choice), 1, 1};
}

std::vector<KernelChoice> LocalCandidates(const DeviceInfo& device, const ProductSize& size) {
  if (!GroupsAreWaves(device) || GroupItems(device) < kLocalItems) return {};
  std::vector<KernelChoice> candidates;
  for (const auto& [rows, cols, across] : {std::tuple{4, 2, 8}, {4, 2, 16}, {8, 2, 8}, {4, 4, 8}, {2, 2, 8}}) {
    const KernelChoice choice{std::string(kLocalVariant), rows, cols, across};
    const bool fits = LocalTexels(choice) * kLocalTexelBytes <= device.local_memory_bytes &&
                      Tiles(size.pixels, PixelsOfGroup(choice)) <= kMostGroups;
    if (fits && FillsHalfAGroup(choice, size)) candidates.push_back(choice);
  }
  return candidates;
}

void UseLocal(const ProductSize& size, const KernelChoice& choice, KernelCall& call) {
  const int down = ItemsDown(choice);
  call.kernel = "pointwise_local";
  call.defines = {{"ROWS", std::to_string(choice.rows)},
                  {"COLS", std::to_string(choice.cols)},
                  {"ACROSS", std::to_string(choice.lanes)},
                  {"DOWN", std::to_string(down)},
                  {"SLAB", std::to_string(kSlab)}};
  call.local_texels = LocalTexels(choice);
  call.local_size = {kLocalItems, 1, 1};
  call.work_items = {Tiles(size.pixels, PixelsOfGroup(choice)) * kLocalItems,
                     Tiles(Tiles(size.channels_out, 4), SlicesOfGroup(choice)), 1};
}

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
