#include "core/lowering/flat_product.h"

#include <string>

#include "core/base/numbers.h"
#include "core/device/device_rules.h"
#include "core/device/group_size.h"

namespace hearth {
namespace {

// Estimated for four GPUs (benchmarks/hardware.md): 128 and 512 work items per unit took 1 to 14 % longer.
constexpr int64_t kItemsOfUnit = 256;
// With fewer iterations per share, adding up the shares costs more than sharing gains.
constexpr int64_t kFewestTurns = 4;
constexpr int kMostShares = 8;
constexpr uint32_t kFewestLanes = 64, kMostLanes = 128;  // one wave; the kernel's local memory
constexpr uint32_t kLocalBytes = 4096;

int64_t ItemsOf(const ProductSize& size, const KernelChoice& choice) {
  return Tiles(size.pixels, choice.rows) * Tiles(Tiles(size.channels_out, 4), choice.cols) * choice.lanes;
}

bool Runs(const DeviceInfo& device) {
  const uint32_t lanes = GroupItems(device);
  return GroupsAreWaves(device) && lanes >= kFewestLanes && lanes <= kMostLanes &&
         device.local_memory_bytes >= kLocalBytes;
}

KernelChoice ChoiceByRule(const DeviceInfo& device, const ProductSize& size) {
  const bool one_slice = size.channels_out <= 4;
  const bool few_rows = size.pixels <= 2 || (!size.is_pointwise && Applies(Rule::kTwoPixelTiles, device));
  KernelChoice choice{std::string(kFlatVariant), few_rows && !one_slice ? 2 : 4, one_slice ? 1 : 2, 1};
  const int64_t wanted = int64_t{device.compute_units} * kItemsOfUnit, turns = Tiles(size.channels_in, 4);
  while (choice.lanes < kMostShares && ItemsOf(size, choice) < wanted && turns >= 2 * choice.lanes * kFewestTurns)
    choice.lanes *= 2;
  return choice;
}

}  // namespace

std::vector<KernelChoice> FlatCandidates(const DeviceInfo& device, const ProductSize& size) {
  if (!Runs(device)) return {};
  std::vector<KernelChoice> candidates = {ChoiceByRule(device, size)};
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

}  // namespace hearth
