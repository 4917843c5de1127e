// Which types of memory a device is taken to have, and which of them a buffer takes.
#include <gtest/gtest.h>

#include "backends/vulkan/memory_types.h"
#include "backends/vulkan/physical_device.h"
#include "core/device/device_profiles.h"

namespace hearth::vulkan {
namespace {

constexpr uint32_t kLocal = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, kVisible = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT,
                   kCoherent = VK_MEMORY_PROPERTY_HOST_COHERENT_BIT, kCached = VK_MEMORY_PROPERTY_HOST_CACHED_BIT;
constexpr uint32_t kAll = kLocal | kVisible | kCoherent | kCached;

// lavapipe's.
const std::vector<MemoryType> kSoftware = {{kAll, 0}};

std::vector<MemoryType> As(const char* profile, const std::vector<MemoryType>& driver = kSoftware) {
  return SimulatedMemoryTypes(driver, FindDeviceProfile(profile).value()->vulkan_memory);
}

// The driver with those types as the profile's device.
DeviceInfo Simulating(const char* profile, const std::vector<MemoryType>& driver = kSoftware) {
  PhysicalDevice device;
  device.info.dialect = Dialect::kVulkan;
  device.info.type = DeviceType::kCpu;
  device.info.unified_memory = true;
  device.memory_types = driver;
  Simulate(*FindDeviceProfile(profile).value(), device);
  return device.info;
}

TEST(VulkanMemoryTypes, OfAMaliAreCachedAndFlushed) {
  const std::vector<MemoryType> types = As("mali-g78");
  EXPECT_FALSE(AreCoherent(types));
  EXPECT_EQ(PreferredFlags(types, MemoryUse::kKernels, true), kLocal | kVisible | kCached);
}

TEST(VulkanMemoryTypes, OfAnAdrenoAreCoherentWhereTheyAreUsed) {
  const std::vector<MemoryType> types = As("adreno640");
  EXPECT_FALSE(AreCoherent(types));
  EXPECT_EQ(PreferredFlags(types, MemoryUse::kKernels, true), kAll);
}

TEST(VulkanMemoryTypes, OfOtherIntegratedGpusAreSharedAndTheBestCachedOnes) {
  EXPECT_EQ(PreferredFlags(As("powervr-ge8320"), MemoryUse::kKernels, true), kLocal | kVisible | kCoherent);
  for (const char* profile : {"intel-uhd620", "apple-m1"})
    EXPECT_EQ(PreferredFlags(As(profile), MemoryUse::kKernels, true), kAll) << profile;
}

// Where the shared type has no room, the rest of the same memory is as good, and memory that can't be mapped costs
// copies.
TEST(VulkanMemoryTypes, OfAnIntegratedGpuAreMappedBeforeTheyAreLocal) {
  const std::vector<MemoryType> types = {{kLocal, 0}, {kVisible | kCoherent, 1}, {kAll, 2}};
  const std::vector<MemoryType> sorted = {{kAll, 2}, {kVisible | kCoherent, 1}, {kLocal, 0}};
  EXPECT_EQ(TypesByFitness(types, UINT32_MAX, MemoryUse::kKernels, true), sorted);
}

TEST(VulkanMemoryTypes, ThatAreSpecialFitNothing) {
  for (const uint32_t special : {VK_MEMORY_PROPERTY_PROTECTED_BIT, VK_MEMORY_PROPERTY_LAZILY_ALLOCATED_BIT,
                                 VK_MEMORY_PROPERTY_DEVICE_COHERENT_BIT_AMD}) {
    const std::vector<MemoryType> types = {{kAll | special, 0}, {kVisible | kCoherent, 1}};
    for (const MemoryUse use : {MemoryUse::kKernels, MemoryUse::kStaging})
      EXPECT_EQ(PreferredFlags(types, use, true), kVisible | kCoherent) << special;
  }
}

TEST(VulkanMemoryTypes, TellWhetherTheHostReadsWhatIsMappedFast) {
  for (const char* profile : {"adreno640", "mali-g78", "intel-uhd620", "apple-m1"})
    EXPECT_TRUE(Simulating(profile).is_read_fast_by_host()) << profile;
  EXPECT_FALSE(Simulating("powervr-ge8320").is_read_fast_by_host());
  EXPECT_FALSE(Simulating("navi21").is_read_fast_by_host());
}

TEST(VulkanMemoryTypes, OfADiscreteGpuAreHiddenForKernelsAndCachedForStaging) {
  for (const char* profile : {"navi21", "polaris10", "turing", "ampere-laptop"}) {
    const std::vector<MemoryType> types = As(profile);
    EXPECT_TRUE(AreCoherent(types)) << profile;
    EXPECT_EQ(PreferredFlags(types, MemoryUse::kKernels, false), kLocal) << profile;
    EXPECT_EQ(PreferredFlags(types, MemoryUse::kStaging, false), kVisible | kCoherent | kCached) << profile;
  }
}

TEST(VulkanMemoryTypes, OfTheLeastThatVulkanGuaranteesAreStagedUncached) {
  EXPECT_EQ(PreferredFlags(As("vulkan-1.1-minimum"), MemoryUse::kStaging, false), kVisible | kCoherent);
}

TEST(VulkanMemoryTypes, OfAProfileOnlyTakeAwayFromTheDrivers) {
  const std::vector<MemoryType> driver = {
      {kLocal, 0}, {kVisible | kCoherent, 1}, {kAll, 2}, {kAll | VK_MEMORY_PROPERTY_PROTECTED_BIT, 3}};
  for (const DeviceProfile& profile : DeviceProfiles()) {
    for (const MemoryType& type : SimulatedMemoryTypes(driver, profile.vulkan_memory)) {
      ASSERT_LT(type.index, driver.size()) << profile.name;
      EXPECT_EQ(type.flags & ~driver[type.index].flags, 0u) << profile.name;
      const bool is_of_a_profile = !profile.vulkan_memory.empty();
      EXPECT_FALSE(is_of_a_profile && type.index == 3) << profile.name << " takes memory that is special";
    }
  }
}

// Each in all types that can stand in: a buffer may not take the first of them.
TEST(VulkanMemoryTypes, OfAProfileAreInEveryTypeThatHasTheirProperties) {
  const std::vector<MemoryType> driver = {{kAll, 0}, {kAll, 1}};
  const std::vector<MemoryType> types = As("powervr-ge8320", driver);
  const uint32_t flags = kLocal | kVisible | kCoherent;
  EXPECT_EQ(types, (std::vector<MemoryType>{{flags, 0}, {flags, 1}}));
  EXPECT_EQ(TypesByFitness(types, 0b10, MemoryUse::kKernels, true), (std::vector<MemoryType>{{flags, 1}}));
}

TEST(VulkanMemoryTypes, StayTheDriversWhereTheProfileTellsNoneOrNoneCouldBeMapped) {
  EXPECT_EQ(SimulatedMemoryTypes(kSoftware, {}), kSoftware);
  const std::vector<MemoryType> uncached = {{kLocal, 0}, {kVisible | kCoherent, 1}};
  EXPECT_EQ(As("intel-uhd620", uncached), uncached);
}

}  // namespace
}  // namespace hearth::vulkan
