#include "core/device/group_size.h"

#include <algorithm>

#include "core/device/device_rules.h"

namespace hearth {
namespace {

constexpr uint32_t kVector = 8, kWave = 64, kWarp = 32;

bool Takes(const DeviceInfo& device, uint32_t items) {
  return items <= device.max_local_invocations && items <= device.max_local_size[0];
}

}  // namespace

uint32_t GroupItems(const DeviceInfo& device) {
  if (Applies(Rule::kShortGroups, device) || !Takes(device, kWave)) return kVector;
  return device.subgroup_size > kWave && Takes(device, device.subgroup_size) ? device.subgroup_size : kWave;
}

bool GroupsAreWaves(const DeviceInfo& device) {
  return !Applies(Rule::kShortGroups, device) && !Applies(Rule::kSubgroupWeights, device);
}

uint32_t GroupItemsFor(const DeviceInfo& device, int64_t pixels, int rows) {
  const uint32_t items = GroupItems(device);
  const bool has_warps = device.subgroup_size == kWarp && items > kWarp;
  return has_warps && pixels <= int64_t{rows} * kWarp ? kWarp : items;
}

std::array<uint32_t, 3> PictureGroup(const DeviceInfo& device) {
  return FittingGroup({kVector, Applies(Rule::kShortGroups, device) ? 1 : kVector, 1}, device);
}

std::array<uint32_t, 3> FittingGroup(std::array<uint32_t, 3> wanted, const DeviceInfo& device) {
  for (int d = 0; d < 3; ++d) {
    while (wanted[d] > 1 && wanted[d] > device.max_local_size[d]) wanted[d] /= 2;
  }
  for (;;) {
    const uint64_t items = uint64_t{wanted[0]} * wanted[1] * wanted[2];
    if (items <= 1 || items <= device.max_local_invocations) return wanted;
    // Of equal ones the last: neighbours along the first dimension read neighbouring texels.
    *std::max_element(wanted.rbegin(), wanted.rend()) /= 2;
  }
}

}  // namespace hearth
