#include "backends/vulkan/physical_device.h"

#include <algorithm>
#include <cstring>
#include <initializer_list>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/base/sha256.h"
#include "core/base/text.h"
#include "core/device/driver_environment.h"
#include "core/device/driver_names.h"
#include "core/device/usable_limits.h"
#include "hal/device/loader_names.h"

namespace hearth::vulkan {
namespace {

using ExtensionSet = std::set<std::string, std::less<>>;

ExtensionSet ExtensionsOf(const InstanceApi& api, VkPhysicalDevice device) {
  uint32_t count = 0;
  if (api.EnumerateDeviceExtensionProperties(device, nullptr, &count, nullptr) != VK_SUCCESS) return {};
  std::vector<VkExtensionProperties> properties(count);
  if (api.EnumerateDeviceExtensionProperties(device, nullptr, &count, properties.data()) < 0) return {};
  properties.resize(count);
  ExtensionSet names;
  for (const VkExtensionProperties& property : properties) names.insert(property.extensionName);
  return names;
}

std::string VersionText(uint32_t version) {
  return fmt::format("{}.{}.{}", VK_API_VERSION_MAJOR(version), VK_API_VERSION_MINOR(version),
                     VK_API_VERSION_PATCH(version));
}

// A driver that passes on another one may call it a virtual GPU: Venus in a guest ("Virtio-GPU Venus (llvmpipe ...)").
DeviceType TypeOf(VkPhysicalDeviceType type, std::string_view name) {
  if (IsSoftwareName(name)) return DeviceType::kCpu;
  switch (type) {
    case VK_PHYSICAL_DEVICE_TYPE_CPU: return DeviceType::kCpu;
    case VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU: return DeviceType::kIntegratedGpu;
    case VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU: return DeviceType::kDiscreteGpu;
    default: return DeviceType::kOther;
  }
}

// Inserts `next` after `head` in a chain of extension structures.
template <typename Head, typename Next>
void Chain(Head& head, Next& next) {
  next.pNext = head.pNext;
  head.pNext = &next;
}

void ReadLimits(const VkPhysicalDeviceLimits& limits, uint64_t max_allocation_bytes, PhysicalDevice& device) {
  DeviceInfo& info = device.info;
  for (int d = 0; d < 3; ++d) {
    info.max_local_size[d] = limits.maxComputeWorkGroupSize[d];
    info.max_group_count[d] = limits.maxComputeWorkGroupCount[d];
  }
  info.max_local_invocations = limits.maxComputeWorkGroupInvocations;
  info.local_memory_bytes = limits.maxComputeSharedMemorySize;
  info.max_buffer_bytes = max_allocation_bytes;
  info.max_binding_bytes = std::min<uint64_t>(limits.maxStorageBufferRange, max_allocation_bytes);
  info.max_texel_elements = limits.maxTexelBufferElements;
  info.buffer_offset_alignment =
      UsableAlignment({limits.minStorageBufferOffsetAlignment, limits.minTexelBufferOffsetAlignment});
  info.max_storage_buffers = limits.maxPerStageDescriptorStorageBuffers;
  info.max_scalar_bytes = limits.maxPushConstantsSize;
  info.max_texel_buffers = limits.maxPerStageDescriptorSampledImages;
  device.timestamp_period_ns = limits.timestampPeriod;
  device.non_coherent_atom_bytes = std::max<uint64_t>(1, limits.nonCoherentAtomSize);
}

// Vulkan itself has no number of cores; extensions of three vendors do. 0 without them.
struct CoreCounts {
  VkPhysicalDeviceShaderSMBuiltinsPropertiesNV nv{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_SM_BUILTINS_PROPERTIES_NV};
  VkPhysicalDeviceShaderCorePropertiesAMD amd{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_CORE_PROPERTIES_AMD};
  VkPhysicalDeviceShaderCoreProperties2AMD active{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_CORE_PROPERTIES_2_AMD};
  VkPhysicalDeviceShaderCoreBuiltinsPropertiesARM arm{
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_CORE_BUILTINS_PROPERTIES_ARM};

  void ChainTo(VkPhysicalDeviceProperties2& properties, const ExtensionSet& extensions) {
    if (extensions.contains(VK_NV_SHADER_SM_BUILTINS_EXTENSION_NAME)) Chain(properties, nv);
    if (extensions.contains(VK_AMD_SHADER_CORE_PROPERTIES_EXTENSION_NAME)) Chain(properties, amd);
    if (extensions.contains(VK_AMD_SHADER_CORE_PROPERTIES_2_EXTENSION_NAME)) Chain(properties, active);
    if (extensions.contains(VK_ARM_SHADER_CORE_BUILTINS_EXTENSION_NAME)) Chain(properties, arm);
  }
  uint32_t Count(DeviceType type) const {
    if (type == DeviceType::kCpu) return std::max(1u, std::thread::hardware_concurrency());
    // AMD reports two numbers; the second omits units that are disabled in this chip.
    if (active.activeComputeUnitCount != 0) return active.activeComputeUnitCount;
    return std::max({nv.shaderSMCount, arm.shaderCoreCount,
                     amd.shaderEngineCount * amd.shaderArraysPerEngineCount * amd.computeUnitsPerShaderArray});
  }
};

void ReadProperties(uint32_t api_version, const ExtensionSet& extensions, PhysicalDevice& device) {
  VkPhysicalDeviceProperties2 properties{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2};
  VkPhysicalDeviceIDProperties id{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ID_PROPERTIES};
  VkPhysicalDeviceMaintenance3Properties maintenance{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_3_PROPERTIES};
  VkPhysicalDeviceDriverProperties driver{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES};
  VkPhysicalDeviceSubgroupProperties subgroup{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES};
  CoreCounts cores;
  Chain(properties, id);
  Chain(properties, maintenance);
  Chain(properties, subgroup);
  if (extensions.contains(VK_KHR_DRIVER_PROPERTIES_EXTENSION_NAME) || api_version >= VK_API_VERSION_1_2) {
    Chain(properties, driver);
  }
  cores.ChainTo(properties, extensions);
  device.instance->api.GetPhysicalDeviceProperties2(device.handle, &properties);

  const VkPhysicalDeviceProperties& base = properties.properties;
  ReadLimits(base.limits, maintenance.maxMemoryAllocationSize, device);
  DeviceInfo& info = device.info;
  info.type = TypeOf(base.deviceType, info.name);
  info.vendor = fmt::format("0x{:04x}", base.vendorID);
  info.uuid = HexOf(id.deviceUUID);
  info.driver_version = fmt::format("{} {}, driver 0x{:x}, Vulkan {}, pipeline cache {}", ValidUtf8(driver.driverName),
                                    ValidUtf8(driver.driverInfo), base.driverVersion, VersionText(base.apiVersion),
                                    HexOf(base.pipelineCacheUUID));
  info.compute_units = cores.Count(info.type);
  const bool shuffles = (subgroup.supportedStages & VK_SHADER_STAGE_COMPUTE_BIT) != 0 &&
                        (subgroup.supportedOperations & VK_SUBGROUP_FEATURE_SHUFFLE_BIT) != 0;
  info.subgroup_size = shuffles ? std::max(1u, subgroup.subgroupSize) : 1;
  device.vendor_id = base.vendorID;
  device.device_id = base.deviceID;
  std::memcpy(device.pipeline_cache_uuid.data(), base.pipelineCacheUUID, VK_UUID_SIZE);
}

// The kernels' text declares Vulkan's memory model, which the language of such matrices asks for. It is part of 1.2.
void ReadMatrixShape(PhysicalDevice& device) {
  VkPhysicalDeviceFeatures2 features{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2};
  VkPhysicalDeviceVulkanMemoryModelFeatures model{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_MEMORY_MODEL_FEATURES};
  VkPhysicalDeviceCooperativeMatrixFeaturesKHR matrices{
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_MATRIX_FEATURES_KHR, nullptr, VK_FALSE, VK_FALSE};
  Chain(features, model);
  Chain(features, matrices);
  device.instance->api.GetPhysicalDeviceFeatures2(device.handle, &features);
  if (matrices.cooperativeMatrix == VK_TRUE && model.vulkanMemoryModel == VK_TRUE && device.shader_float16)
    device.info.matrix_shape = MatrixShapeOf(*device.instance, device.handle);
}

void ReadFeatures(uint32_t api_version, const ExtensionSet& extensions, PhysicalDevice& device) {
  VkPhysicalDeviceFeatures2 features{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2};
  VkPhysicalDevice16BitStorageFeatures storage{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_16BIT_STORAGE_FEATURES};
  VkPhysicalDeviceShaderFloat16Int8Features arithmetic{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_FLOAT16_INT8_FEATURES};
  Chain(features, storage);
  device.float16_is_extension = api_version < VK_API_VERSION_1_2;
  if (extensions.contains(VK_KHR_SHADER_FLOAT16_INT8_EXTENSION_NAME) || !device.float16_is_extension) {
    Chain(features, arithmetic);
  }
  device.instance->api.GetPhysicalDeviceFeatures2(device.handle, &features);
  device.storage_buffer_16bit = storage.storageBuffer16BitAccess == VK_TRUE;
  device.shader_float16 = arithmetic.shaderFloat16 == VK_TRUE;
  // Emitted kernels pack two halves into a uint, which needs no feature.
  device.info.fp16_storage = true;
  device.info.fp16_arithmetic = device.shader_float16;
  device.info.int64 = features.features.shaderInt64 == VK_TRUE;
  if (!device.float16_is_extension && extensions.contains(VK_KHR_COOPERATIVE_MATRIX_EXTENSION_NAME))
    ReadMatrixShape(device);
}

// Each needs those before it.
void ReadExternalMemory(uint32_t api_version, const ExtensionSet& extensions, PhysicalDevice& device) {
  std::vector<const char*>& enabled = device.external_memory;
  const auto add = [&](std::initializer_list<const char*> names) {
    if (!std::ranges::all_of(names, [&](const char* name) { return extensions.contains(name); })) return false;
    enabled.insert(enabled.end(), names);
    return true;
  };
  device.has_foreign_queues = add({VK_EXT_QUEUE_FAMILY_FOREIGN_EXTENSION_NAME});
  if (ThisSystem() == OperatingSystem::kAndroid && device.has_foreign_queues)
    add({VK_ANDROID_EXTERNAL_MEMORY_ANDROID_HARDWARE_BUFFER_EXTENSION_NAME});
  const bool has_dma_bufs =
      add({VK_KHR_EXTERNAL_MEMORY_FD_EXTENSION_NAME, VK_EXT_EXTERNAL_MEMORY_DMA_BUF_EXTENSION_NAME});
  const bool has_format_lists = api_version >= VK_API_VERSION_1_2 || add({VK_KHR_IMAGE_FORMAT_LIST_EXTENSION_NAME});
  if (has_dma_bufs && has_format_lists) add({VK_EXT_IMAGE_DRM_FORMAT_MODIFIER_EXTENSION_NAME});
}

void NoteHostsCache(PhysicalDevice& device) {
  const VkMemoryPropertyFlags flags =
      PreferredFlags(device.memory_types, MemoryUse::kKernels, device.info.unified_memory);
  device.info.is_cached_by_host = (flags & VK_MEMORY_PROPERTY_HOST_CACHED_BIT) != 0;
}

// A flush must not write back a neighbour's bytes that a kernel is writing.
void KeepTensorsInAtoms(PhysicalDevice& device) {
  if (AreCoherent(device.memory_types)) return;
  device.info.buffer_offset_alignment =
      UsableAlignment({device.info.buffer_offset_alignment, device.non_coherent_atom_bytes});
}

void ReadMemory(PhysicalDevice& device) {
  VkPhysicalDeviceMemoryProperties memory{};
  device.instance->api.GetPhysicalDeviceMemoryProperties(device.handle, &memory);
  device.memory_types = MemoryTypesOf(memory);
  constexpr VkMemoryPropertyFlags kShared = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT | VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT;
  uint64_t largest_heap_bytes = 0;
  for (const VkMemoryType& type : std::span(memory.memoryTypes, memory.memoryTypeCount))
    largest_heap_bytes = std::max<uint64_t>(largest_heap_bytes, memory.memoryHeaps[type.heapIndex].size);
  if (largest_heap_bytes != 0) {
    device.info.max_buffer_bytes = std::min(device.info.max_buffer_bytes, largest_heap_bytes);
    device.info.max_binding_bytes = std::min(device.info.max_binding_bytes, largest_heap_bytes);
  }
  const bool has_shared = (PreferredFlags(device.memory_types, MemoryUse::kKernels, true) & kShared) == kShared;
  // A discrete GPU may have such memory too, but the host reads it slowly over the bus.
  device.info.unified_memory =
      has_shared && (device.info.type == DeviceType::kCpu || device.info.type == DeviceType::kIntegratedGpu);
  NoteHostsCache(device);
  KeepTensorsInAtoms(device);
}

std::vector<VkQueueFamilyProperties> QueueFamilies(const InstanceApi& api, VkPhysicalDevice device) {
  uint32_t count = 0;
  api.GetPhysicalDeviceQueueFamilyProperties(device, &count, nullptr);
  std::vector<VkQueueFamilyProperties> families(count);
  api.GetPhysicalDeviceQueueFamilyProperties(device, &count, families.data());
  return families;
}

// Finds the first queue family with compute. Returns false if there is none.
bool FindQueue(PhysicalDevice& device) {
  const std::vector<VkQueueFamilyProperties> families = QueueFamilies(device.instance->api, device.handle);
  for (uint32_t f = 0; f < families.size(); ++f) {
    if ((families[f].queueFlags & VK_QUEUE_COMPUTE_BIT) == 0 || families[f].queueCount == 0) continue;
    device.queue_family = f;
    // A tick of length zero measures nothing; the host's clock is used then.
    device.timestamp_bits = device.timestamp_period_ns > 0 ? families[f].timestampValidBits : 0;
    return true;
  }
  return false;
}

bool ReadsTexels(const PhysicalDevice& device, VkFormat format) {
  VkFormatProperties properties{};
  device.instance->api.GetPhysicalDeviceFormatProperties(device.handle, format, &properties);
  return (properties.bufferFeatures & VK_FORMAT_FEATURE_UNIFORM_TEXEL_BUFFER_BIT) != 0;
}

std::vector<VkCooperativeMatrixPropertiesKHR> ListedShapes(const Instance& instance, VkPhysicalDevice device) {
  const auto list = instance.api.GetPhysicalDeviceCooperativeMatrixPropertiesKHR;
  uint32_t count = 0;
  if (list == nullptr || list(device, &count, nullptr) != VK_SUCCESS) return {};
  VkCooperativeMatrixPropertiesKHR empty{};
  empty.sType = VK_STRUCTURE_TYPE_COOPERATIVE_MATRIX_PROPERTIES_KHR;
  std::vector<VkCooperativeMatrixPropertiesKHR> shapes(count, empty);
  if (list(device, &count, shapes.data()) < 0) return {};
  shapes.resize(std::min<size_t>(count, shapes.size()));
  return shapes;
}

bool AddsHalfProductsInFloats(const VkCooperativeMatrixPropertiesKHR& shape) {
  return shape.scope == VK_SCOPE_SUBGROUP_KHR && shape.AType == VK_COMPONENT_TYPE_FLOAT16_KHR &&
         shape.BType == VK_COMPONENT_TYPE_FLOAT16_KHR && shape.CType == VK_COMPONENT_TYPE_FLOAT32_KHR &&
         shape.ResultType == VK_COMPONENT_TYPE_FLOAT32_KHR;
}

}  // namespace

Status CheckQueueFamily(const Instance& instance, VkPhysicalDevice handle, uint32_t family) {
  const std::vector<VkQueueFamilyProperties> families = QueueFamilies(instance.api, handle);
  if (family < families.size() && (families[family].queueFlags & VK_QUEUE_COMPUTE_BIT) != 0) return Status::Ok();
  return Error(StatusCode::kInvalidArgument, "queue family {} of {} does not support compute", family, families.size());
}

PhysicalDevice Describe(const Instance& instance, VkPhysicalDevice handle) {
  PhysicalDevice device;
  device.instance = &instance;
  device.handle = handle;
  device.info.backend = "vulkan";
  device.info.dialect = Dialect::kVulkan;
  device.info.compile_grouping = CompileGrouping::kEach;
  VkPhysicalDeviceProperties base{};
  instance.api.GetPhysicalDeviceProperties(handle, &base);
  device.info.name = ValidUtf8(base.deviceName);
  device.info.type = TypeOf(base.deviceType, device.info.name);
  if (base.apiVersion < VK_API_VERSION_1_1) {
    device.info.driver_version = "Vulkan " + VersionText(base.apiVersion);
    device.unusable_reason = fmt::format("{} has Vulkan {}; 1.1 or newer is needed, update its driver",
                                         device.info.name, VersionText(base.apiVersion));
    return device;
  }
  // What belongs to a later version than the instance's must be an extension, as on an older device.
  const uint32_t version = std::min(base.apiVersion, instance.version);
  const ExtensionSet extensions = ExtensionsOf(instance.api, handle);
  device.portability_subset = extensions.contains(kPortabilitySubset);
  ReadProperties(version, extensions, device);
  device.info.driver_environment = DriverEnvironmentOf(device.info);
  ReadFeatures(version, extensions, device);
  ReadMemory(device);
  ReadExternalMemory(version, extensions, device);
  device.info = WithUsableLimits(std::move(device.info));
  if (!FindQueue(device)) {
    device.unusable_reason = fmt::format("{} has no compute queue", device.info.name);
  } else if (!ReadsTexels(device, VK_FORMAT_R32G32B32A32_SFLOAT) ||
             !ReadsTexels(device, VK_FORMAT_R16G16B16A16_SFLOAT)) {
    device.info.max_texel_elements = 0;  // violates the specification, but only disables texel reads
  }
  return device;
}

void Simulate(const DeviceProfile& profile, PhysicalDevice& device) {
  device.info = Simulated(std::move(device.info), profile);
  device.memory_types = SimulatedMemoryTypes(device.memory_types, profile.vulkan_memory);
  device.non_coherent_atom_bytes = std::max<uint64_t>(device.non_coherent_atom_bytes, profile.flush_atom_bytes);
  NoteHostsCache(device);
  KeepTensorsInAtoms(device);
}

std::array<uint32_t, 3> MatrixShapeOf(const Instance& instance, VkPhysicalDevice device) {
  std::array<uint32_t, 3> largest = {0, 0, 0};
  const auto size = [](const std::array<uint32_t, 3>& shape) { return uint64_t{shape[0]} * shape[1] * shape[2]; };
  for (const VkCooperativeMatrixPropertiesKHR& listed : ListedShapes(instance, device)) {
    const std::array<uint32_t, 3> shape = {listed.MSize, listed.NSize, listed.KSize};
    if (AddsHalfProductsInFloats(listed) && IsUsableMatrix(shape) && size(shape) > size(largest)) largest = shape;
  }
  return largest;
}

}  // namespace hearth::vulkan
