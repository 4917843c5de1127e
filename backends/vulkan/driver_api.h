// Vulkan's functions, found at run time in the loader library: three tables, one per level. The lists below are all
// that this backend calls.
#ifndef HEARTH_BACKENDS_VULKAN_DRIVER_API_H_
#define HEARTH_BACKENDS_VULKAN_DRIVER_API_H_

#define VK_NO_PROTOTYPES
#include <vulkan/vulkan_core.h>

#include <memory>
#include <vector>
//
#include <vulkan/vulkan_android.h>  // needs no header of Android

#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/dynamic_library.h"
#include "hearth/status.h"

// For headers before 1.3.255; Debian 12 has 1.3.239.
#ifndef VK_KHR_cooperative_matrix
#define VK_KHR_COOPERATIVE_MATRIX_EXTENSION_NAME "VK_KHR_cooperative_matrix"
inline constexpr auto VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_MATRIX_FEATURES_KHR = VkStructureType(1000506000);
inline constexpr auto VK_STRUCTURE_TYPE_COOPERATIVE_MATRIX_PROPERTIES_KHR = VkStructureType(1000506001);
enum VkComponentTypeKHR { VK_COMPONENT_TYPE_FLOAT16_KHR = 0, VK_COMPONENT_TYPE_FLOAT32_KHR = 1 };
enum VkScopeKHR { VK_SCOPE_SUBGROUP_KHR = 3 };
struct VkPhysicalDeviceCooperativeMatrixFeaturesKHR {
  VkStructureType sType;
  void* pNext;
  VkBool32 cooperativeMatrix;
  VkBool32 cooperativeMatrixRobustBufferAccess;
};
struct VkCooperativeMatrixPropertiesKHR {
  VkStructureType sType;
  void* pNext;
  uint32_t MSize, NSize, KSize;
  VkComponentTypeKHR AType, BType, CType, ResultType;
  VkBool32 saturatingAccumulation;
  VkScopeKHR scope;
};
using PFN_vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR = VkResult(VKAPI_PTR*)(VkPhysicalDevice, uint32_t*,
                                                                                   VkCooperativeMatrixPropertiesKHR*);
#endif

#define HEARTH_VULKAN_INSTANCE_FUNCTIONS(X)    \
  X(DestroyInstance)                           \
  X(EnumeratePhysicalDevices)                  \
  X(EnumerateDeviceExtensionProperties)        \
  X(GetPhysicalDeviceProperties)               \
  X(GetPhysicalDeviceProperties2)              \
  X(GetPhysicalDeviceFeatures2)                \
  X(GetPhysicalDeviceFormatProperties)         \
  X(GetPhysicalDeviceFormatProperties2)        \
  X(GetPhysicalDeviceExternalBufferProperties) \
  X(GetPhysicalDeviceImageFormatProperties2)   \
  X(GetPhysicalDeviceMemoryProperties)         \
  X(GetPhysicalDeviceQueueFamilyProperties)    \
  X(CreateDevice)                              \
  X(GetDeviceProcAddr)

#define HEARTH_VULKAN_DEVICE_FUNCTIONS(X) \
  X(DestroyDevice)                        \
  X(DeviceWaitIdle)                       \
  X(GetDeviceQueue)                       \
  X(QueueSubmit)                          \
  X(AllocateMemory)                       \
  X(FreeMemory)                           \
  X(MapMemory)                            \
  X(FlushMappedMemoryRanges)              \
  X(InvalidateMappedMemoryRanges)         \
  X(CreateBuffer)                         \
  X(DestroyBuffer)                        \
  X(GetBufferMemoryRequirements)          \
  X(BindBufferMemory)                     \
  X(CreateImage)                          \
  X(DestroyImage)                         \
  X(GetImageMemoryRequirements)           \
  X(BindImageMemory)                      \
  X(CreateBufferView)                     \
  X(DestroyBufferView)                    \
  X(CreateShaderModule)                   \
  X(DestroyShaderModule)                  \
  X(CreateDescriptorSetLayout)            \
  X(DestroyDescriptorSetLayout)           \
  X(CreatePipelineLayout)                 \
  X(DestroyPipelineLayout)                \
  X(CreatePipelineCache)                  \
  X(DestroyPipelineCache)                 \
  X(GetPipelineCacheData)                 \
  X(CreateComputePipelines)               \
  X(DestroyPipeline)                      \
  X(CreateDescriptorPool)                 \
  X(DestroyDescriptorPool)                \
  X(AllocateDescriptorSets)               \
  X(UpdateDescriptorSets)                 \
  X(CreateCommandPool)                    \
  X(DestroyCommandPool)                   \
  X(AllocateCommandBuffers)               \
  X(BeginCommandBuffer)                   \
  X(EndCommandBuffer)                     \
  X(CmdBindPipeline)                      \
  X(CmdBindDescriptorSets)                \
  X(CmdPushConstants)                     \
  X(CmdDispatch)                          \
  X(CmdPipelineBarrier)                   \
  X(CmdCopyBuffer)                        \
  X(CmdCopyImageToBuffer)                 \
  X(CmdResetQueryPool)                    \
  X(CmdWriteTimestamp)                    \
  X(CreateQueryPool)                      \
  X(DestroyQueryPool)                     \
  X(GetQueryPoolResults)                  \
  X(CreateFence)                          \
  X(DestroyFence)                         \
  X(ResetFences)                          \
  X(WaitForFences)

namespace hearth::vulkan {

struct LoaderApi {
  DynamicLibrary library;
  PFN_vkGetInstanceProcAddr GetInstanceProcAddr = nullptr;
  PFN_vkEnumerateInstanceVersion EnumerateInstanceVersion = nullptr;
  PFN_vkEnumerateInstanceExtensionProperties EnumerateInstanceExtensionProperties = nullptr;
  PFN_vkCreateInstance CreateInstance = nullptr;
};

#define HEARTH_VULKAN_MEMBER(name) PFN_vk##name name = nullptr;
struct InstanceApi {
  HEARTH_VULKAN_INSTANCE_FUNCTIONS(HEARTH_VULKAN_MEMBER)
  // Null if no driver has the extension.
  PFN_vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR GetPhysicalDeviceCooperativeMatrixPropertiesKHR = nullptr;
};
struct DeviceApi {
  HEARTH_VULKAN_DEVICE_FUNCTIONS(HEARTH_VULKAN_MEMBER)
  // Of extensions; null where the device was opened without them.
  PFN_vkGetMemoryFdPropertiesKHR GetMemoryFdPropertiesKHR = nullptr;
  PFN_vkGetImageDrmFormatModifierPropertiesEXT GetImageDrmFormatModifierPropertiesEXT = nullptr;
  PFN_vkGetAndroidHardwareBufferPropertiesANDROID GetAndroidHardwareBufferPropertiesANDROID = nullptr;
};
#undef HEARTH_VULKAN_MEMBER

// kUnavailable if the loader library is missing, is of version 1.0 or lacks a function; says which.
Result<LoaderApi> LoadLoaderApi();
Result<InstanceApi> LoadInstanceApi(const LoaderApi& loader, VkInstance instance);
Result<DeviceApi> LoadDeviceApi(const InstanceApi& api, VkDevice device);

// For tests: called with each loaded table, to replace functions.
struct TableFilters {
  void (*instance)(InstanceApi&) = nullptr;
  void (*device)(DeviceApi&) = nullptr;
};
TableFilters& TheTableFilters();  // set it before devices are listed for the first time

std::string ResultName(VkResult result);  // "VK_ERROR_DEVICE_LOST"

// Ok for VK_SUCCESS, otherwise "`call` answered VK_...". kResourceExhausted for every kind of out of memory;
// kDeviceLost for VK_ERROR_DEVICE_LOST alone; kUnavailable for results without a code of their own.
Status ToStatus(VkResult result, std::string_view call);

// ---- The process's one VkInstance, made when first needed ----

// Kept until the process ends. Enumerating and opening share it: making it and querying its devices took 80-100 ms with
// Mesa 22.3's four drivers installed (2 cores, warm disk). Some drivers that started threads can't be unloaded safely.
struct Instance {
  LoaderApi loader;
  InstanceApi api;
  VkInstance handle = VK_NULL_HANDLE;
  // What it was made for. Devices are used by no later one, whatever they have.
  uint32_t version = VK_API_VERSION_1_1;
};

// kUnavailable with the reason; the next call tries again after a failure. Threads: any.
Result<const Instance*> SharedInstance();

// The caller's instance, which the caller destroys. Vulkan can't be asked for its version, so it counts as 1.1.
// kUnavailable if it is of API version 1.0.
Result<std::unique_ptr<Instance>> ForeignInstance(VkInstance handle);

// In the driver's order, the same at every call.
Result<std::vector<VkPhysicalDevice>> PhysicalDevices(const Instance& instance);

}  // namespace hearth::vulkan

#endif  // HEARTH_BACKENDS_VULKAN_DRIVER_API_H_
