// Calls to the Vulkan driver fail, one after the other.
#include <type_traits>

#include "backends/vulkan/driver_api.h"
#include "tests/fault/driver_call_faults.h"

namespace hearth {
namespace {

using testing::DriverCall;
using testing::DriverFault;

struct VulkanRules {
  template <typename R>
  static bool CanFail(std::string_view) {
    return std::is_same_v<R, VkResult>;
  }

  static bool Waits(std::string_view name) { return name == "WaitForFences" || name == "DeviceWaitIdle"; }

  template <typename R, typename... A>
  static R Failed(DriverFault fault, std::string_view, A...) {
    if constexpr (std::is_same_v<R, VkResult>) {
      return fault == DriverFault::kLost          ? VK_ERROR_DEVICE_LOST
             : fault == DriverFault::kOutOfMemory ? VK_ERROR_OUT_OF_DEVICE_MEMORY
                                                  : VK_ERROR_UNKNOWN;
    } else {
      return R();
    }
  }

  template <typename R, typename... A>
  static int Made(std::string_view name, R result, A...) {
    if (name.starts_with("Destroy") || name.starts_with("Free")) return -1;
    const bool makes = name.starts_with("Create") || name == "AllocateMemory";
    if constexpr (std::is_same_v<R, VkResult>) return makes && result == VK_SUCCESS ? 1 : 0;
    return 0;
  }
};

#define HEARTH_PUT(name) DriverCall<VulkanRules, &std::remove_reference_t<decltype(table)>::name>::Put(table, #name);

void Replace(vulkan::InstanceApi& table) {
  HEARTH_VULKAN_INSTANCE_FUNCTIONS(HEARTH_PUT)
}

void Replace(vulkan::DeviceApi& table) {
  HEARTH_VULKAN_DEVICE_FUNCTIONS(HEARTH_PUT)
}

#undef HEARTH_PUT

class VulkanCallFaults : public testing::DriverCallFaults {
 protected:
  void SetUp() override {
    vulkan::TheTableFilters() = {Replace, Replace};
    Begin("vulkan");
  }
};

HEARTH_DRIVER_CALL_TESTS(VulkanCallFaults);

}  // namespace
}  // namespace hearth
