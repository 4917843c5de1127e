#include "backends/vulkan/instance.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

#include "core/base/error.h"

namespace hearth::vulkan {
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
