#include "core/device/usable_limits.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "core/device/compute_units.h"
#include "core/device/device_rules.h"

namespace hearth {

uint32_t UsableAlignment(std::initializer_list<uint64_t> asked) {
  constexpr uint64_t kMost = uint64_t{1} << 30;
  uint64_t alignment = 16;
  for (const uint64_t bytes : asked) {
    if (bytes != 0) alignment = std::min(kMost, std::lcm(alignment, std::min(bytes, kMost)));
  }
  return static_cast<uint32_t>(alignment);
}

bool IsUsableMatrix(const std::array<uint32_t, 3>& shape) {
  const auto [rows, columns, depth] = shape;
  constexpr uint32_t kRow = 8, kMostElements = 256;
  const auto is_side = [](uint32_t count) { return count != 0 && count <= kMostElements; };
  return is_side(rows) && is_side(columns) && is_side(depth) && columns % kRow == 0 && depth % kRow == 0 &&
         rows * columns <= kMostElements;
}

DeviceInfo WithUsableLimits(DeviceInfo info) {
  info.buffer_offset_alignment = UsableAlignment({info.buffer_offset_alignment});
  if (info.compute_units == 0) info.compute_units = info.is_software() ? 1 : ComputeUnitsByName(info.name, info.type);
  info.native_vector_floats = std::max(1u, info.native_vector_floats);
  if (!std::has_single_bit(info.subgroup_size)) info.subgroup_size = 1;
  if (info.subgroup_size == 1 || !IsUsableMatrix(info.matrix_shape)) info.matrix_shape = {0, 0, 0};
  if (Applies(Rule::kStaleTexels, info)) info.max_texel_elements = 0;
  return info;
}

}  // namespace hearth
