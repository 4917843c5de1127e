// How many compute units a GPU has, by its name, for drivers that do not report it: OpenGL ES has no query, Vulkan only
// vendors' extensions.
//
// A unit is one that the vendor's OpenCL driver counts in CL_DEVICE_MAX_COMPUTE_UNITS: a streaming multiprocessor, a
// compute unit of AMD, a shader core of Mali, a shader processor of Adreno, an execution unit of Intel, a cluster of
// PowerVR.
#ifndef HEARTH_CORE_DEVICE_COMPUTE_UNITS_H_
#define HEARTH_CORE_DEVICE_COMPUTE_UNITS_H_

#include <cstdint>
#include <span>
#include <string_view>

#include "core/device/device_info.h"

namespace hearth {

struct ComputeUnitsRow {
  std::string_view name;  // words of a device's name, lower case and digits: "adreno 640"
  uint32_t units;
  std::string_view chip = {};  // that has this number, where the name leaves it open
};
struct ComputeUnitsSource {
  std::string_view source;  // where the numbers are published
  std::span<const ComputeUnitsRow> rows;
};
std::span<const ComputeUnitsSource> ComputeUnitsTable();

// For a GPU that no row names. Discrete GPUs have 3 to 192 units, most sold ones 20 to 40; integrated ones 1 to 24,
// most 2 to 8.
inline constexpr uint32_t kUnitsOfUnknownDiscreteGpu = 24, kUnitsOfUnknownGpu = 4;

// The number in the longest row whose words occur in this order in the name; for a Mali with MPn or MCn in its name, n.
uint32_t ComputeUnitsByName(std::string_view name, DeviceType type);

}  // namespace hearth

#endif  // HEARTH_CORE_DEVICE_COMPUTE_UNITS_H_
