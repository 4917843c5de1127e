#include "core/lowering/local_product.h"

#include <string>
#include <tuple>

#include "core/base/numbers.h"
#include "core/device/group_size.h"

namespace hearth {
namespace {

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

}  // namespace

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

}  // namespace hearth
