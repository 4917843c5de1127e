// Devices that a software driver can stand in for: what their drivers report, as a table.
//
// `--simulate PROFILE` opens a software driver and answers as the profile says, never granting more than the driver
// has. Everything above the driver (rules, tiles, work groups, staging, fences, limits, access paths) is then what that
// device would get. Results are right; times say nothing about the device.
#ifndef HEARTH_CORE_DEVICE_DEVICE_PROFILES_H_
#define HEARTH_CORE_DEVICE_DEVICE_PROFILES_H_

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "core/device/device_info.h"
#include "hearth/status.h"

namespace hearth {

struct DeviceProfile {
  std::string_view name;                              // "navi21"
  std::string_view title;                             // "AMD Radeon RX 6800 (Navi 21)"
  std::string_view source;                            // where the numbers come from
  bool opencl = false, gles = false, vulkan = false;  // the APIs that its drivers offer
  DeviceType type = DeviceType::kOther;
  std::array<uint32_t, 3> max_local_size = {};
  uint32_t max_local_invocations = 0;
  std::array<uint32_t, 3> max_group_count = {};
  uint32_t local_memory_bytes = 0;
  uint64_t max_buffer_bytes = 0;   // an allocation
  uint64_t max_binding_bytes = 0;  // what one argument of a kernel may see of it
  uint64_t max_texel_elements = 0;
  uint32_t buffer_offset_alignment = 0;
  uint32_t max_storage_buffers = 0;
  uint32_t max_scalar_bytes = 0;
  uint32_t compute_units = 1;       // as its OpenCL driver tells
  bool vulkan_tells_units = false;  // its Vulkan driver has a vendor's extension for that
  std::string_view renderer;        // its OpenGL ES driver's GL_RENDERER, which tells the rest (compute_units.h)
  uint32_t subgroup_size = 1;
  bool int64 = false, fp16_arithmetic = false, unified_memory = false;

  bool Offers(Dialect dialect) const;
};

std::span<const DeviceProfile> DeviceProfiles();

// Capitals don't matter. kInvalidArgument for a name that is none, with all there are.
Result<const DeviceProfile*> FindDeviceProfile(std::string_view name);

// What `driver` answers when it stands in for `profile`: of each limit the narrower one. Its name, driver version and
// UUID name the profile, which keeps its programs and tuning apart in the cache.
DeviceInfo Simulated(DeviceInfo driver, const DeviceProfile& profile);

}  // namespace hearth

#endif  // HEARTH_CORE_DEVICE_DEVICE_PROFILES_H_
