// Devices that a software driver can simulate: a table of what their drivers report.
//
// `--simulate PROFILE` opens a software driver that answers like the profile, but never grants more than the driver
// has. Everything above the driver (rules, tiles, work groups, staging, fences, limits, access paths) then works as for
// that device. Results are right; times say nothing about the device.
#ifndef HEARTH_CORE_DEVICE_DEVICE_PROFILES_H_
#define HEARTH_CORE_DEVICE_DEVICE_PROFILES_H_

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "core/device/device_info.h"
#include "hearth/status.h"

namespace hearth {

// 0: not told. In the limits of one API: as in all.
struct ProfileLimits {
  std::array<uint32_t, 3> max_local_size = {};
  uint32_t max_local_invocations = 0;
  std::array<uint32_t, 3> max_group_count = {};
  uint32_t local_memory_bytes = 0;
  uint64_t max_buffer_bytes = 0;   // an allocation
  uint64_t max_binding_bytes = 0;  // the part of it that one kernel argument may see
  uint64_t max_texel_elements = 0;
  uint32_t buffer_offset_alignment = 0;
  uint32_t max_storage_buffers = 0;
  uint32_t max_scalar_bytes = 0;
};

struct DeviceProfile {
  std::string_view name;                              // "navi21"
  std::string_view title;                             // "AMD Radeon RX 6800 (Navi 21)"
  std::string_view source;                            // which reports the numbers come from, and what none confirms
  bool opencl = false, gles = false, vulkan = false;  // the APIs that its drivers offer
  DeviceType type = DeviceType::kOther;
  ProfileLimits limits = {};                                   // of all APIs
  ProfileLimits in_opencl = {}, in_gles = {}, in_vulkan = {};  // what one API has otherwise
  uint32_t compute_units = 1;                                  // as its OpenCL driver reports
  bool vulkan_tells_units = false;                             // its Vulkan driver reports them by a vendor's extension
  std::string_view renderer;  // its GL_RENDERER in OpenGL ES, which gives the rest (usable_limits.h)
  uint32_t subgroup_size = 1;
  bool matrices = false;  // its subgroups multiply matrices (VK_KHR_cooperative_matrix), in the driver's own shape
  bool int64 = false, fp16_arithmetic = false, unified_memory = false;
  std::span<const uint32_t> vulkan_memory = {};  // VkMemoryPropertyFlags of the types that it lists; none: the driver's
  uint32_t flush_atom_bytes = 1;                 // Vulkan's nonCoherentAtomSize

  bool Offers(Dialect dialect) const;
  ProfileLimits LimitsIn(Dialect dialect) const;
};

std::span<const DeviceProfile> DeviceProfiles();

// Case is ignored. kInvalidArgument for an unknown name lists all.
Result<const DeviceProfile*> FindDeviceProfile(std::string_view name);

// The DeviceInfo of `driver` when it simulates `profile`: the narrower one of each limit. Name, driver version and UUID
// include the profile's name, which keeps its programs and tuning apart in the cache.
DeviceInfo Simulated(DeviceInfo driver, const DeviceProfile& profile);

}  // namespace hearth

#endif  // HEARTH_CORE_DEVICE_DEVICE_PROFILES_H_
