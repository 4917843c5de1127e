// What Vulkan drivers say of themselves, by a driver that only answers the questions of Describe.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "backends/vulkan/driver_api.h"
#include "backends/vulkan/physical_device.h"
#include "core/base/text.h"

namespace hearth::vulkan {
namespace {

// A GPU of Vulkan 1.3 with half floats, which a test changes.
struct DescribedDriver {
  std::string name = "A GPU";
  VkPhysicalDeviceType type = VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU;
  std::vector<const char*> extensions;
};
DescribedDriver& TheDescribedDriver() {
  static auto& driver = *new DescribedDriver();
  return driver;
}

// The structure of that type behind `head`; null if it was not asked for.
template <typename Wanted, typename Head>
Wanted* AskedFor(Head* head, VkStructureType type) {
  auto* next = static_cast<VkBaseOutStructure*>(head->pNext);
  while (next != nullptr && next->sType != type) next = next->pNext;
  return reinterpret_cast<Wanted*>(next);
}

void FillProperties(VkPhysicalDevice, VkPhysicalDeviceProperties* properties) {
  *properties = {};
  properties->apiVersion = VK_API_VERSION_1_3;
  properties->deviceType = TheDescribedDriver().type;
  TheDescribedDriver().name.copy(properties->deviceName, VK_MAX_PHYSICAL_DEVICE_NAME_SIZE - 1);
}

void FillProperties2(VkPhysicalDevice device, VkPhysicalDeviceProperties2* properties) {
  FillProperties(device, &properties->properties);
  auto* driver =
      AskedFor<VkPhysicalDeviceDriverProperties>(properties, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES);
  if (driver != nullptr) std::strcpy(driver->driverInfo, "build 1\xae");
}

void FillFeatures2(VkPhysicalDevice, VkPhysicalDeviceFeatures2* features) {
  auto* arithmetic = AskedFor<VkPhysicalDeviceShaderFloat16Int8Features>(
      features, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_FLOAT16_INT8_FEATURES);
  if (arithmetic != nullptr) arithmetic->shaderFloat16 = VK_TRUE;
}

VkResult ListExtensions(VkPhysicalDevice, const char*, uint32_t* count, VkExtensionProperties* properties) {
  const std::vector<const char*>& names = TheDescribedDriver().extensions;
  for (size_t k = 0; properties != nullptr && k < names.size(); ++k) {
    properties[k] = {};
    std::string_view(names[k]).copy(properties[k].extensionName, VK_MAX_EXTENSION_NAME_SIZE - 1);
  }
  *count = static_cast<uint32_t>(names.size());
  return VK_SUCCESS;
}

PhysicalDevice DescribedUnder(uint32_t version) {
  static auto& instance = *new Instance();
  instance.version = version;
  instance.api.GetPhysicalDeviceProperties = FillProperties;
  instance.api.GetPhysicalDeviceProperties2 = FillProperties2;
  instance.api.GetPhysicalDeviceFeatures2 = FillFeatures2;
  instance.api.EnumerateDeviceExtensionProperties = ListExtensions;
  instance.api.GetPhysicalDeviceFormatProperties = [](VkPhysicalDevice, VkFormat, VkFormatProperties*) {};
  instance.api.GetPhysicalDeviceMemoryProperties = [](VkPhysicalDevice, VkPhysicalDeviceMemoryProperties* memory) {
    *memory = {};
  };
  instance.api.GetPhysicalDeviceQueueFamilyProperties = [](VkPhysicalDevice, uint32_t* count,
                                                           VkQueueFamilyProperties*) { *count = 0; };
  return Describe(instance, VK_NULL_HANDLE);
}

class VulkanPhysicalDevice : public ::testing::Test {
 protected:
  void SetUp() override { TheDescribedDriver() = {}; }
};

TEST_F(VulkanPhysicalDevice, UnderAnOlderInstanceHasOfANewerVersionOnlyWhatIsAnExtensionToo) {
  EXPECT_TRUE(DescribedUnder(VK_API_VERSION_1_2).shader_float16);
  EXPECT_FALSE(DescribedUnder(VK_API_VERSION_1_1).shader_float16);
  TheDescribedDriver().extensions = {VK_KHR_SHADER_FLOAT16_INT8_EXTENSION_NAME};
  const PhysicalDevice device = DescribedUnder(VK_API_VERSION_1_1);
  EXPECT_TRUE(device.shader_float16);
  EXPECT_TRUE(device.float16_is_extension) << "it is switched on by name";
}

TEST_F(VulkanPhysicalDevice, OfASoftwareDriverInAGuestIsNoGpu) {
  TheDescribedDriver().type = VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU;
  TheDescribedDriver().name = "Virtio-GPU Venus (llvmpipe (LLVM 19.1.7, 256 bits))";
  EXPECT_EQ(DescribedUnder(VK_API_VERSION_1_2).info.type, DeviceType::kCpu);
  TheDescribedDriver().name = "Virtio-GPU Venus (Intel(R) UHD Graphics 620)";
  EXPECT_EQ(DescribedUnder(VK_API_VERSION_1_2).info.type, DeviceType::kOther);
}

TEST_F(VulkanPhysicalDevice, HasANameAndADriverInUtf8WhateverItsDriverSays) {
  TheDescribedDriver().name = "Some\xae GPU";
  const DeviceInfo info = DescribedUnder(VK_API_VERSION_1_2).info;
  EXPECT_EQ(info.name, "Some\xef\xbf\xbd GPU");
  EXPECT_TRUE(IsUtf8(info.driver_version)) << info.driver_version;
}

}  // namespace
}  // namespace hearth::vulkan
