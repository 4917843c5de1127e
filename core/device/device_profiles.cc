#include "core/device/device_profiles.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/device/compute_units.h"
#include "core/device/usable_limits.h"

namespace hearth {
namespace {

constexpr uint64_t kMiB = 1u << 20, kGiB = 1u << 30;
constexpr std::array<uint32_t, 3> kMaxGroups = {65535, 65535, 65535};

constexpr std::string_view kVulkanReports = "as commonly reported for its drivers; not checked against a report";

// Fills in what a row leaves out: the APIs, and limits that most GPUs share.
constexpr DeviceProfile Gpu(DeviceProfile row) {
  row.source = kVulkanReports;
  row.opencl = row.gles = row.vulkan = true;
  const auto common = [](auto& limit, auto value) {
    if (limit == 0) limit = value;
  };
  common(row.max_local_invocations, 1024u);
  if (row.max_group_count[0] == 0) row.max_group_count = kMaxGroups;
  common(row.local_memory_bytes, 32768u);
  common(row.max_buffer_bytes, kGiB);
  common(row.max_binding_bytes, 128 * kMiB);
  common(row.max_texel_elements, 65536u);
  common(row.buffer_offset_alignment, 64u);
  common(row.max_scalar_bytes, 128u);
  return row;
}

// The devices' numbers are not checked against reports of their drivers. Those of the APIs' minima are the
// specifications'.
constexpr DeviceProfile kProfiles[] = {
    Gpu({.name = "adreno640",
         .title = "Qualcomm Adreno 640",
         .type = DeviceType::kIntegratedGpu,
         .max_local_size = {1024, 1024, 64},
         .max_storage_buffers = 24,
         .compute_units = 2,
         .renderer = "Adreno (TM) 640",
         .subgroup_size = 64,
         .fp16_arithmetic = true,
         .unified_memory = true}),
    Gpu({.name = "adreno730",
         .title = "Qualcomm Adreno 730",
         .type = DeviceType::kIntegratedGpu,
         .max_local_size = {1024, 1024, 64},
         .max_storage_buffers = 24,
         .max_scalar_bytes = 256,
         .compute_units = 4,
         .renderer = "Adreno (TM) 730",
         .subgroup_size = 64,
         .int64 = true,
         .fp16_arithmetic = true,
         .unified_memory = true}),
    Gpu({.name = "mali-g52",
         .title = "Arm Mali-G52",
         .type = DeviceType::kIntegratedGpu,
         .max_local_size = {384, 384, 384},
         .max_local_invocations = 384,
         .max_storage_buffers = 35,
         .compute_units = 2,
         .vulkan_tells_units = true,
         .renderer = "Mali-G52",
         .subgroup_size = 8,
         .int64 = true,
         .fp16_arithmetic = true,
         .unified_memory = true}),
    Gpu({.name = "mali-g78",
         .title = "Arm Mali-G78",
         .type = DeviceType::kIntegratedGpu,
         .max_local_size = {512, 512, 512},
         .max_local_invocations = 512,
         .max_storage_buffers = 35,
         .compute_units = 14,
         .vulkan_tells_units = true,
         .renderer = "Mali-G78",
         .subgroup_size = 16,
         .int64 = true,
         .fp16_arithmetic = true,
         .unified_memory = true}),
    Gpu({.name = "powervr-ge8320",
         .title = "Imagination PowerVR Rogue GE8320",
         .type = DeviceType::kIntegratedGpu,
         .max_local_size = {512, 512, 64},
         .max_local_invocations = 512,
         .local_memory_bytes = 16384,
         .max_buffer_bytes = 256 * kMiB,
         .max_storage_buffers = 16,
         .compute_units = 1,
         .renderer = "PowerVR Rogue GE8320",
         .subgroup_size = 1,
         .unified_memory = true}),
    Gpu({.name = "intel-uhd620",
         .title = "Intel UHD Graphics 620",
         .type = DeviceType::kIntegratedGpu,
         .max_local_size = {1024, 1024, 64},
         .max_buffer_bytes = 2 * kGiB,
         .max_binding_bytes = kGiB,
         .max_texel_elements = 134217728,
         .max_storage_buffers = 64,
         .compute_units = 24,
         .renderer = "Mesa Intel(R) UHD Graphics 620 (KBL GT2)",
         .subgroup_size = 32,
         .int64 = true,
         .fp16_arithmetic = true,
         .unified_memory = true}),
    Gpu({.name = "polaris10",
         .title = "AMD Radeon RX 580 (Polaris)",
         .type = DeviceType::kDiscreteGpu,
         .max_local_size = {1024, 1024, 1024},
         .max_buffer_bytes = 2 * kGiB,
         .max_binding_bytes = 4 * kGiB - 1,
         .max_texel_elements = 134217728,
         .buffer_offset_alignment = 16,
         .max_storage_buffers = 64,
         .compute_units = 36,
         .vulkan_tells_units = true,
         .renderer = "AMD Radeon RX 580 Series (polaris10, LLVM 15.0.7, DRM 3.54, 6.5.0)",
         .subgroup_size = 64,
         .int64 = true}),
    Gpu({.name = "navi21",
         .title = "AMD Radeon RX 6800 (Navi 21)",
         .type = DeviceType::kDiscreteGpu,
         .max_local_size = {1024, 1024, 1024},
         .max_buffer_bytes = 2 * kGiB,
         .max_binding_bytes = 4 * kGiB - 1,
         .max_texel_elements = 134217728,
         .buffer_offset_alignment = 16,
         .max_storage_buffers = 64,
         .compute_units = 60,
         .vulkan_tells_units = true,
         .renderer = "AMD Radeon RX 6800 (navi21, LLVM 15.0.7, DRM 3.54, 6.5.0)",
         .subgroup_size = 64,
         .int64 = true,
         .fp16_arithmetic = true}),
    Gpu({.name = "turing",
         .title = "NVIDIA GeForce RTX 2060 (Turing)",
         .type = DeviceType::kDiscreteGpu,
         .max_local_size = {1024, 1024, 64},
         .max_group_count = {2147483647, 65535, 65535},
         .local_memory_bytes = 49152,
         .max_buffer_bytes = 4 * kGiB - 1,
         .max_binding_bytes = 4 * kGiB - 1,
         .max_texel_elements = 134217728,
         .buffer_offset_alignment = 32,
         .max_storage_buffers = 64,
         .max_scalar_bytes = 256,
         .compute_units = 30,
         .vulkan_tells_units = true,
         .renderer = "NVIDIA GeForce RTX 2060/PCIe/SSE2",
         .subgroup_size = 32,
         .matrices = true,
         .int64 = true,
         .fp16_arithmetic = true}),
    Gpu({.name = "ampere-laptop",
         .title = "NVIDIA GeForce RTX 3060 Laptop (Ampere)",
         .type = DeviceType::kDiscreteGpu,
         .max_local_size = {1024, 1024, 64},
         .max_group_count = {2147483647, 65535, 65535},
         .local_memory_bytes = 49152,
         .max_buffer_bytes = 4 * kGiB - 1,
         .max_binding_bytes = 4 * kGiB - 1,
         .max_texel_elements = 134217728,
         .buffer_offset_alignment = 16,
         .max_storage_buffers = 64,
         .max_scalar_bytes = 256,
         .compute_units = 30,
         .vulkan_tells_units = true,
         .renderer = "NVIDIA GeForce RTX 3060 Laptop GPU/PCIe/SSE2",
         .subgroup_size = 32,
         .matrices = true,
         .int64 = true,
         .fp16_arithmetic = true}),
    {.name = "apple-m1",
     .title = "Apple M1 through MoltenVK",
     .source = kVulkanReports,
     .vulkan = true,
     .type = DeviceType::kIntegratedGpu,
     .max_local_size = {1024, 1024, 1024},
     .max_local_invocations = 1024,
     .max_group_count = {1073741824, 1073741824, 1073741824},
     .local_memory_bytes = 32768,
     .max_buffer_bytes = 4 * kGiB - 1,
     .max_binding_bytes = 4 * kGiB - 1,
     .max_texel_elements = 4194304,
     .buffer_offset_alignment = 16,
     .max_storage_buffers = 31,
     .max_scalar_bytes = 256,
     .compute_units = 8,
     .renderer = "Apple M1",
     .subgroup_size = 32,
     .int64 = true,
     .fp16_arithmetic = true,
     .unified_memory = true},
    {.name = "vulkan-1.1-minimum",
     .title = "The least that Vulkan 1.1 guarantees",
     .source = "Vulkan specification, table of required limits",
     .vulkan = true,
     .type = DeviceType::kDiscreteGpu,
     .max_local_size = {128, 128, 64},
     .max_local_invocations = 128,
     .max_group_count = kMaxGroups,
     .local_memory_bytes = 16384,
     .max_buffer_bytes = kGiB,
     .max_binding_bytes = 128 * kMiB,
     .max_texel_elements = 65536,
     .buffer_offset_alignment = 256,
     .max_storage_buffers = 4,
     .max_scalar_bytes = 128},
    {.name = "gles-3.1-minimum",
     .title = "The least that OpenGL ES 3.1 guarantees",
     .source = "OpenGL ES 3.1 specification, tables of implementation-dependent values",
     .gles = true,
     .type = DeviceType::kIntegratedGpu,
     .max_local_size = {128, 128, 64},
     .max_local_invocations = 128,
     .max_group_count = kMaxGroups,
     .local_memory_bytes = 16384,
     .max_buffer_bytes = kGiB,
     .max_binding_bytes = 128 * kMiB,
     .max_texel_elements = 0,
     .buffer_offset_alignment = 256,
     .max_storage_buffers = 4,
     .max_scalar_bytes = 512},
    {.name = "opencl-1.2-embedded-minimum",
     .title = "The least that OpenCL 1.2's embedded profile guarantees",
     .source = "OpenCL 1.2 specification, table 4.3 and section 10",
     .opencl = true,
     .type = DeviceType::kIntegratedGpu,
     .max_local_size = {1, 1, 1},
     .max_local_invocations = 1,
     .max_group_count = kMaxGroups,
     .local_memory_bytes = 1024,
     .max_buffer_bytes = kMiB,
     .max_binding_bytes = kMiB,
     .max_texel_elements = 0,
     .buffer_offset_alignment = 128,
     .max_storage_buffers = 16,
     .max_scalar_bytes = 128},
};

std::string Lowered(std::string_view text) {
  std::string lowered(text);
  std::ranges::transform(lowered, lowered.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lowered;
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

std::span<const DeviceProfile> DeviceProfiles() {
  return kProfiles;
}

Result<const DeviceProfile*> FindDeviceProfile(std::string_view name) {
  const auto* found = std::ranges::find(kProfiles, Lowered(name), &DeviceProfile::name);
  if (found != std::end(kProfiles)) return found;
  std::vector<std::string_view> names;
  for (const DeviceProfile& profile : kProfiles) names.push_back(profile.name);
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
  for (size_t d = 0; d < 3; ++d) {
    info.max_local_size[d] = std::min(info.max_local_size[d], profile.max_local_size[d]);
    info.max_group_count[d] = std::min(info.max_group_count[d], profile.max_group_count[d]);
  }
  info.max_local_invocations = std::min(info.max_local_invocations, profile.max_local_invocations);
  info.local_memory_bytes = std::min(info.local_memory_bytes, profile.local_memory_bytes);
  info.max_buffer_bytes = std::min(info.max_buffer_bytes, profile.max_buffer_bytes);
  info.max_binding_bytes = std::min(info.max_binding_bytes, profile.max_binding_bytes);
  info.max_texel_elements = std::min(info.max_texel_elements, profile.max_texel_elements);
  info.buffer_offset_alignment = UsableAlignment({info.buffer_offset_alignment, profile.buffer_offset_alignment});
  info.max_storage_buffers = std::min(info.max_storage_buffers, profile.max_storage_buffers);
  info.max_scalar_bytes = std::min(info.max_scalar_bytes, profile.max_scalar_bytes);
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
