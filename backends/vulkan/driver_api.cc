#include "backends/vulkan/driver_api.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "hal/device/driver_files.h"
#include "hal/device/driver_isolation.h"
#include "hal/device/loader_names.h"

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

// ---- The instance ----

namespace {

// Without it the loader omits drivers that lack something of Vulkan 1.0: MoltenVK, so every Apple device.
bool ListsPortabilityDrivers(const LoaderApi& loader) {
  uint32_t count = 0;
  if (loader.EnumerateInstanceExtensionProperties(nullptr, &count, nullptr) != VK_SUCCESS) return false;
  std::vector<VkExtensionProperties> properties(count);
  if (loader.EnumerateInstanceExtensionProperties(nullptr, &count, properties.data()) < 0) return false;
  properties.resize(count);
  return std::ranges::any_of(properties, [](const VkExtensionProperties& property) {
    return std::string_view(property.extensionName) == VK_KHR_PORTABILITY_ENUMERATION_EXTENSION_NAME;
  });
}

Result<std::unique_ptr<Instance>> CreateInstance() {
  auto instance = std::make_unique<Instance>();
  HEARTH_ASSIGN(instance->loader, LoadLoaderApi());
  uint32_t loader_version = VK_API_VERSION_1_0;
  HEARTH_TRY(ToStatus(instance->loader.EnumerateInstanceVersion(&loader_version), "vkEnumerateInstanceVersion"));
  if (loader_version < VK_API_VERSION_1_1) {
    return Error(StatusCode::kUnavailable, "the Vulkan loader is of version 1.0; 1.1 or newer is needed");
  }
  VkApplicationInfo application{VK_STRUCTURE_TYPE_APPLICATION_INFO};
  application.pApplicationName = "hearth";
  // 1.2 has the driver's name and float16 features without extensions.
  instance->version = std::min<uint32_t>(loader_version, VK_API_VERSION_1_2);
  application.apiVersion = instance->version;
  VkInstanceCreateInfo info{VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO};
  info.pApplicationInfo = &application;
  const char* const portability = VK_KHR_PORTABILITY_ENUMERATION_EXTENSION_NAME;
  if (ListsPortabilityDrivers(instance->loader)) {
    info.flags = VK_INSTANCE_CREATE_ENUMERATE_PORTABILITY_BIT_KHR;
    info.enabledExtensionCount = 1;
    info.ppEnabledExtensionNames = &portability;
  }
  const VkResult made = instance->loader.CreateInstance(&info, nullptr, &instance->handle);
  if (made == VK_ERROR_INCOMPATIBLE_DRIVER) {
    return Error(StatusCode::kUnavailable,
                 "no Vulkan driver was found (vkCreateInstance answered {}); install one, or check VK_ICD_FILENAMES",
                 ResultName(made));
  }
  HEARTH_TRY(ToStatus(made, "vkCreateInstance"));
  HEARTH_ASSIGN(instance->api, LoadInstanceApi(instance->loader, instance->handle));
  return instance;
}

}  // namespace

Result<const Instance*> SharedInstance() {
  static std::mutex mutex;
  static const Instance* shared = nullptr;  // never deleted, see the header
  const std::lock_guard lock(mutex);
  if (shared == nullptr) {
    HEARTH_ASSIGN(auto instance, CreateInstance());
    shared = instance.release();
  }
  return shared;
}

Result<std::unique_ptr<Instance>> ForeignInstance(VkInstance handle) {
  auto instance = std::make_unique<Instance>();
  HEARTH_ASSIGN(instance->loader, LoadLoaderApi());
  instance->handle = handle;
  HEARTH_ASSIGN(instance->api, LoadInstanceApi(instance->loader, handle));
  return instance;
}

Result<std::vector<VkPhysicalDevice>> PhysicalDevices(const Instance& instance) {
  uint32_t count = 0;
  HEARTH_TRY(
      ToStatus(instance.api.EnumeratePhysicalDevices(instance.handle, &count, nullptr), "vkEnumeratePhysicalDevices"));
  std::vector<VkPhysicalDevice> devices(count);
  const VkResult listed = instance.api.EnumeratePhysicalDevices(instance.handle, &count, devices.data());
  if (listed != VK_INCOMPLETE) HEARTH_TRY(ToStatus(listed, "vkEnumeratePhysicalDevices"));
  devices.resize(count);
  if (devices.empty()) {
    return Error(StatusCode::kUnavailable,
                 "the Vulkan drivers found no device; install a driver that fits the machine");
  }
  return devices;
}

}  // namespace hearth::vulkan
