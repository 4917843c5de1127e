#include "backends/vulkan/driver_api.h"

#include <utility>

#include "core/base/error.h"
#include "hal/driver_files.h"
#include "hal/driver_isolation.h"
#include "hal/loader_names.h"

namespace hearth::vulkan {
namespace {

StatusCode CodeOf(VkResult result) {
  switch (result) {
    case VK_ERROR_OUT_OF_HOST_MEMORY:
    case VK_ERROR_OUT_OF_DEVICE_MEMORY:
    case VK_ERROR_OUT_OF_POOL_MEMORY:
    case VK_ERROR_FRAGMENTED_POOL:
    case VK_ERROR_FRAGMENTATION:
    case VK_ERROR_TOO_MANY_OBJECTS:
    case VK_ERROR_MEMORY_MAP_FAILED: return StatusCode::kResourceExhausted;
    case VK_ERROR_DEVICE_LOST: return StatusCode::kDeviceLost;
    case VK_ERROR_LAYER_NOT_PRESENT:
    case VK_ERROR_EXTENSION_NOT_PRESENT:
    case VK_ERROR_FEATURE_NOT_PRESENT:
    case VK_ERROR_FORMAT_NOT_SUPPORTED:
    case VK_ERROR_INVALID_DRM_FORMAT_MODIFIER_PLANE_LAYOUT_EXT: return StatusCode::kUnsupported;
    case VK_ERROR_INVALID_EXTERNAL_HANDLE: return StatusCode::kInvalidArgument;
    default: return StatusCode::kUnavailable;  // concerns this call; others may work
  }
}

Status Missing(const char* name) {
  return Error(StatusCode::kUnavailable, "the Vulkan driver lacks vk{}; update the driver", name);
}

}  // namespace

Result<LoaderApi> LoadLoaderApi() {
  HEARTH_TRY(IsolateDrivers("vulkan", VulkanDriverFiles));
  auto library = DynamicLibrary::Open(LoaderNamesOn(ThisSystem()).vulkan);
  if (!library.ok()) return library.status().Within("Vulkan loader");
  LoaderApi api;
  api.library = std::move(library).value();
  api.GetInstanceProcAddr = api.library.Symbol<PFN_vkGetInstanceProcAddr>("vkGetInstanceProcAddr");
  if (api.GetInstanceProcAddr == nullptr) return Missing("GetInstanceProcAddr");
  const auto find = [&](const char* name) { return api.GetInstanceProcAddr(VK_NULL_HANDLE, name); };
  api.CreateInstance = reinterpret_cast<PFN_vkCreateInstance>(find("vkCreateInstance"));
  api.EnumerateInstanceVersion = reinterpret_cast<PFN_vkEnumerateInstanceVersion>(find("vkEnumerateInstanceVersion"));
  api.EnumerateInstanceExtensionProperties =
      reinterpret_cast<PFN_vkEnumerateInstanceExtensionProperties>(find("vkEnumerateInstanceExtensionProperties"));
  if (api.CreateInstance == nullptr) return Missing("CreateInstance");
  if (api.EnumerateInstanceExtensionProperties == nullptr) return Missing("EnumerateInstanceExtensionProperties");
  if (api.EnumerateInstanceVersion == nullptr) {
    return Error(StatusCode::kUnavailable, "the Vulkan loader is of version 1.0; 1.1 or newer is needed");
  }
  return api;
}

Result<InstanceApi> LoadInstanceApi(const LoaderApi& loader, VkInstance instance) {
  InstanceApi api;
#define HEARTH_VULKAN_LOAD(name)                                                               \
  api.name = reinterpret_cast<PFN_vk##name>(loader.GetInstanceProcAddr(instance, "vk" #name)); \
  if (api.name == nullptr) return Missing(#name);
  HEARTH_VULKAN_INSTANCE_FUNCTIONS(HEARTH_VULKAN_LOAD)
#undef HEARTH_VULKAN_LOAD
  api.GetPhysicalDeviceCooperativeMatrixPropertiesKHR =
      reinterpret_cast<PFN_vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR>(
          loader.GetInstanceProcAddr(instance, "vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR"));
  if (TheTableFilters().instance != nullptr) TheTableFilters().instance(api);
  return api;
}

Result<DeviceApi> LoadDeviceApi(const InstanceApi& instance_api, VkDevice device) {
  DeviceApi api;
#define HEARTH_VULKAN_LOAD(name)                                                                 \
  api.name = reinterpret_cast<PFN_vk##name>(instance_api.GetDeviceProcAddr(device, "vk" #name)); \
  if (api.name == nullptr) return Missing(#name);
  HEARTH_VULKAN_DEVICE_FUNCTIONS(HEARTH_VULKAN_LOAD)
#undef HEARTH_VULKAN_LOAD
  const auto find = [&]<typename Function>(const char* name, Function& function) {
    function = reinterpret_cast<Function>(instance_api.GetDeviceProcAddr(device, name));
  };
  find("vkGetMemoryFdPropertiesKHR", api.GetMemoryFdPropertiesKHR);
  find("vkGetImageDrmFormatModifierPropertiesEXT", api.GetImageDrmFormatModifierPropertiesEXT);
  find("vkGetAndroidHardwareBufferPropertiesANDROID", api.GetAndroidHardwareBufferPropertiesANDROID);
  if (TheTableFilters().device != nullptr) TheTableFilters().device(api);
  return api;
}

TableFilters& TheTableFilters() {
  static TableFilters filters;
  return filters;
}

std::string ResultName(VkResult result) {
  switch (result) {
#define HEARTH_VULKAN_RESULT(name) \
  case name: return #name;
    HEARTH_VULKAN_RESULT(VK_SUCCESS)
    HEARTH_VULKAN_RESULT(VK_NOT_READY)
    HEARTH_VULKAN_RESULT(VK_TIMEOUT)
    HEARTH_VULKAN_RESULT(VK_INCOMPLETE)
    HEARTH_VULKAN_RESULT(VK_ERROR_OUT_OF_HOST_MEMORY)
    HEARTH_VULKAN_RESULT(VK_ERROR_OUT_OF_DEVICE_MEMORY)
    HEARTH_VULKAN_RESULT(VK_ERROR_INITIALIZATION_FAILED)
    HEARTH_VULKAN_RESULT(VK_ERROR_DEVICE_LOST)
    HEARTH_VULKAN_RESULT(VK_ERROR_MEMORY_MAP_FAILED)
    HEARTH_VULKAN_RESULT(VK_ERROR_LAYER_NOT_PRESENT)
    HEARTH_VULKAN_RESULT(VK_ERROR_EXTENSION_NOT_PRESENT)
    HEARTH_VULKAN_RESULT(VK_ERROR_FEATURE_NOT_PRESENT)
    HEARTH_VULKAN_RESULT(VK_ERROR_INCOMPATIBLE_DRIVER)
    HEARTH_VULKAN_RESULT(VK_ERROR_TOO_MANY_OBJECTS)
    HEARTH_VULKAN_RESULT(VK_ERROR_FORMAT_NOT_SUPPORTED)
    HEARTH_VULKAN_RESULT(VK_ERROR_FRAGMENTED_POOL)
    HEARTH_VULKAN_RESULT(VK_ERROR_UNKNOWN)
    HEARTH_VULKAN_RESULT(VK_ERROR_OUT_OF_POOL_MEMORY)
    HEARTH_VULKAN_RESULT(VK_ERROR_INVALID_EXTERNAL_HANDLE)
    HEARTH_VULKAN_RESULT(VK_ERROR_FRAGMENTATION)
    HEARTH_VULKAN_RESULT(VK_ERROR_VALIDATION_FAILED_EXT)
    HEARTH_VULKAN_RESULT(VK_ERROR_INVALID_SHADER_NV)
    HEARTH_VULKAN_RESULT(VK_ERROR_INVALID_DRM_FORMAT_MODIFIER_PLANE_LAYOUT_EXT)
#undef HEARTH_VULKAN_RESULT
    default: return fmt::format("VkResult {}", static_cast<int>(result));
  }
}

Status ToStatus(VkResult result, std::string_view call) {
  if (result == VK_SUCCESS) return Status::Ok();
  return Error(CodeOf(result), "{} answered {}", call, ResultName(result));
}

}  // namespace hearth::vulkan
