// Corrects limits that drivers do not report or that no specification allows, so that no later code divides by 0.
#ifndef HEARTH_CORE_DEVICE_USABLE_LIMITS_H_
#define HEARTH_CORE_DEVICE_USABLE_LIMITS_H_

#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>

#include "core/device/device_info.h"

namespace hearth {

// The least common multiple of all of them and of a texel's 16 bytes; 0 is ignored. At most 2^30, with which a buffer
// holds only one tensor.
uint32_t UsableAlignment(std::initializer_list<uint64_t> asked);

// Whether kernels can multiply matrices of this shape (DeviceInfo::matrix_shape): their rows in local memory are whole
// multiples of 16 bytes, and a sum has at most 64 texels there.
bool IsUsableMatrix(const std::array<uint32_t, 3>& shape);

// Counts of 0 become 1, except that 0 compute units, which mean that the driver does not report them, become those of
// the device's name (ComputeUnitsByName). Subgroups whose size is no power of two are not used, nor are matrices
// without subgroups, nor unreliable texel buffers (Rule::kStaleTexels). Limits of 0 stay: operations that they forbid
// run on the CPU.
DeviceInfo WithUsableLimits(DeviceInfo info);

// ---- How many compute units a GPU has, by its name ----
//
// For drivers that do not report it: OpenGL ES has no query, Vulkan only vendors' extensions. A unit is one that the
// vendor's OpenCL driver counts in CL_DEVICE_MAX_COMPUTE_UNITS: a streaming multiprocessor, a compute unit of AMD, a
// shader core of Mali, a shader processor of Adreno, an execution unit of Intel, a cluster of PowerVR.

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

#endif  // HEARTH_CORE_DEVICE_USABLE_LIMITS_H_
