#include "core/device/device_profiles.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/base/members.h"
#include "core/base/text.h"
#include "core/device/usable_limits.h"

namespace hearth {
namespace {

// What `told` says, else what `otherwise` does.
ProfileLimits Filled(ProfileLimits told, const ProfileLimits& otherwise) {
  const auto fill = [](auto& limit, const auto& other) {
    if (limit == std::decay_t<decltype(limit)>{}) limit = other;
  };
  VisitMembers(told, [&](auto&... limits) {
    VisitMembers(otherwise, [&](const auto&... others) { (fill(limits, others), ...); });
  });
  return told;
}

// The narrower one of each limit.
void Narrow(const ProfileLimits& limits, DeviceInfo& info) {
  for (size_t d = 0; d < 3; ++d) {
    info.max_local_size[d] = std::min(info.max_local_size[d], limits.max_local_size[d]);
    info.max_group_count[d] = std::min(info.max_group_count[d], limits.max_group_count[d]);
  }
  info.max_local_invocations = std::min(info.max_local_invocations, limits.max_local_invocations);
  info.local_memory_bytes = std::min(info.local_memory_bytes, limits.local_memory_bytes);
  info.max_buffer_bytes = std::min(info.max_buffer_bytes, limits.max_buffer_bytes);
  info.max_binding_bytes = std::min(info.max_binding_bytes, limits.max_binding_bytes);
  info.max_texel_elements = std::min(info.max_texel_elements, limits.max_texel_elements);
  info.buffer_offset_alignment = UsableAlignment({info.buffer_offset_alignment, limits.buffer_offset_alignment});
  info.max_storage_buffers = std::min(info.max_storage_buffers, limits.max_storage_buffers);
  info.max_scalar_bytes = std::min(info.max_scalar_bytes, limits.max_scalar_bytes);
}

// The number of compute units that the backend of this dialect finds.
uint32_t UnitsOf(const DeviceProfile& profile, Dialect dialect) {
  const bool is_told = dialect == Dialect::kOpenCl || (dialect == Dialect::kVulkan && profile.vulkan_tells_units);
  return is_told ? profile.compute_units : ComputeUnitsByName(profile.renderer, profile.type);
}

}  // namespace

bool DeviceProfile::Offers(Dialect dialect) const {
  return dialect == Dialect::kOpenCl ? opencl : dialect == Dialect::kGles ? gles : vulkan;
}

ProfileLimits DeviceProfile::LimitsIn(Dialect dialect) const {
  return Filled(dialect == Dialect::kOpenCl ? in_opencl : dialect == Dialect::kGles ? in_gles : in_vulkan, limits);
}

Result<const DeviceProfile*> FindDeviceProfile(std::string_view name) {
  std::vector<std::string_view> names;
  for (const DeviceProfile& profile : DeviceProfiles()) {
    if (profile.name == LowerCase(name)) return &profile;
    names.push_back(profile.name);
  }
  return Error(StatusCode::kInvalidArgument, "'{}' is not a device profile; there are {}", name,
               fmt::join(names, ", "));
}

DeviceInfo Simulated(DeviceInfo driver, const DeviceProfile& profile) {
  DeviceInfo info = std::move(driver);
  info.name = fmt::format("{} as {}", info.name, profile.title);
  info.driver_version += fmt::format("; as {}", profile.name);
  info.uuid += fmt::format("-{}", profile.name);
  info.simulates = profile.name;
  info.type = profile.type;
  Narrow(profile.LimitsIn(info.dialect), info);
  info.compute_units = UnitsOf(profile, info.dialect);  // a hint: nothing breaks where it is wrong
  info.native_vector_floats = 1;
  info.subgroup_size = std::min(info.subgroup_size, profile.subgroup_size);
  if (!profile.matrices) info.matrix_shape = {0, 0, 0};
  info.int64 = info.int64 && profile.int64;
  info.fp16_arithmetic = info.fp16_arithmetic && profile.fp16_arithmetic;
  info.unified_memory = info.unified_memory && profile.unified_memory;
  info.compile_grouping = CompileGrouping::kEach;
  return WithUsableLimits(std::move(info));
}

}  // namespace hearth
