#include "core/device/device_profiles.h"

#include <gtest/gtest.h>

#include <set>

#include "core/device/device_rules.h"

namespace hearth {
namespace {

DeviceInfo Driver() {
  DeviceInfo info;
  info.backend = "vulkan";
  info.dialect = Dialect::kVulkan;
  info.type = DeviceType::kCpu;
  info.name = "llvmpipe";
  info.driver_version = "Mesa 22.3";
  info.max_local_size = {1024, 1024, 1024};
  info.max_local_invocations = 1024;
  info.max_texel_elements = 1 << 27;
  info.max_buffer_bytes = uint64_t{1} << 31;
  info.buffer_offset_alignment = 16;
  info.max_storage_buffers = 32;
  info.max_scalar_bytes = 256;
  info.unified_memory = true;
  info.fp16_arithmetic = true;
  return info;
}

constexpr Dialect kDialectsOfProfiles[] = {Dialect::kOpenCl, Dialect::kGles, Dialect::kVulkan};

TEST(DeviceProfiles, EachHasANameOfItsOwnASourceAndAnApi) {
  std::set<std::string_view> names;
  for (const DeviceProfile& profile : DeviceProfiles()) {
    EXPECT_TRUE(names.insert(profile.name).second) << profile.name;
    EXPECT_FALSE(profile.source.empty()) << profile.name;
    EXPECT_EQ(profile.source.find("not checked"), std::string_view::npos) << profile.name;
    EXPECT_TRUE(profile.opencl || profile.gles || profile.vulkan) << profile.name;
    EXPECT_NE(profile.type, DeviceType::kCpu) << profile.name;
    EXPECT_EQ(profile.vulkan_memory.empty(), !profile.vulkan) << profile.name;
  }
}

TEST(DeviceProfiles, HaveUsableLimitsInEachOfTheirApis) {
  for (const DeviceProfile& profile : DeviceProfiles()) {
    for (const Dialect dialect : kDialectsOfProfiles) {
      if (!profile.Offers(dialect)) continue;
      const ProfileLimits limits = profile.LimitsIn(dialect);
      EXPECT_GT(limits.max_local_invocations, 0u) << profile.name;
      for (const uint32_t size : limits.max_local_size) {
        EXPECT_GT(size, 0u) << profile.name;
        EXPECT_LE(size, 1024u) << profile.name;
      }
      EXPECT_GE(limits.max_group_count[0], 65535u) << profile.name;
      EXPECT_GT(limits.max_buffer_bytes, 0u) << profile.name;
      EXPECT_GT(limits.max_binding_bytes, 0u) << profile.name;
      EXPECT_GT(limits.max_storage_buffers, 0u) << profile.name;
      EXPECT_GE(limits.max_scalar_bytes, 128u) << profile.name;
    }
  }
}

// What each API has of its own stands before what all have.
TEST(DeviceProfiles, HaveTheLimitsOfTheApi) {
  const DeviceProfile& uhd = *FindDeviceProfile("intel-uhd620").value();
  EXPECT_EQ(uhd.LimitsIn(Dialect::kOpenCl).max_local_invocations, 256u);
  EXPECT_EQ(uhd.LimitsIn(Dialect::kOpenCl).local_memory_bytes, 65536u);
  EXPECT_EQ(uhd.LimitsIn(Dialect::kVulkan).max_local_invocations, 1024u);
  EXPECT_EQ(uhd.LimitsIn(Dialect::kVulkan).local_memory_bytes, 32768u);
  DeviceInfo driver = Driver();
  EXPECT_EQ(Simulated(driver, uhd).max_local_invocations, 1024u);
  driver.dialect = Dialect::kOpenCl;
  EXPECT_EQ(Simulated(driver, uhd).max_local_invocations, 256u);
}

// An argument of OpenCL sees a whole buffer: a limit of bindings is Vulkan's and OpenGL ES's.
TEST(DeviceProfiles, OfGpusBindWholeBuffersInOpenCl) {
  for (const DeviceProfile& profile : DeviceProfiles()) {
    if (!profile.opencl) continue;
    const ProfileLimits limits = profile.LimitsIn(Dialect::kOpenCl);
    EXPECT_EQ(limits.max_binding_bytes, limits.max_buffer_bytes) << profile.name;
  }
}

// Ids are of 32 bits there, and nothing else limits the groups of the first dimension.
TEST(DeviceProfiles, HaveAsManyGroupsInALineAsOpenClCounts) {
  for (const DeviceProfile& profile : DeviceProfiles()) {
    if (!profile.opencl) continue;
    EXPECT_EQ(profile.LimitsIn(Dialect::kOpenCl).max_group_count[0], 0x7fffffffu) << profile.name;
    EXPECT_EQ(profile.LimitsIn(Dialect::kOpenCl).max_group_count[1], 65535u) << profile.name;
  }
}

TEST(DeviceProfiles, NeverGrantMoreThanTheDriverHas) {
  for (const Dialect dialect : kDialectsOfProfiles) {
    DeviceInfo driver = Driver();
    driver.dialect = dialect;
    for (const DeviceProfile& profile : DeviceProfiles()) {
      const DeviceInfo info = Simulated(driver, profile);
      for (size_t d = 0; d < 3; ++d) {
        EXPECT_LE(info.max_local_size[d], driver.max_local_size[d]) << profile.name;
        EXPECT_LE(info.max_group_count[d], driver.max_group_count[d]) << profile.name;
      }
      EXPECT_LE(info.max_local_invocations, driver.max_local_invocations) << profile.name;
      EXPECT_LE(info.local_memory_bytes, driver.local_memory_bytes) << profile.name;
      EXPECT_LE(info.max_buffer_bytes, driver.max_buffer_bytes) << profile.name;
      EXPECT_LE(info.max_binding_bytes, driver.max_binding_bytes) << profile.name;
      EXPECT_LE(info.max_texel_elements, driver.max_texel_elements) << profile.name;
      EXPECT_LE(info.max_storage_buffers, driver.max_storage_buffers) << profile.name;
      EXPECT_LE(info.max_scalar_bytes, driver.max_scalar_bytes) << profile.name;
      EXPECT_EQ(info.buffer_offset_alignment % driver.buffer_offset_alignment, 0u) << profile.name;
      EXPECT_LE(info.subgroup_size, driver.subgroup_size) << profile.name;
      EXPECT_FALSE(info.int64) << profile.name;
    }
  }
}

TEST(DeviceProfiles, GetTheRulesOfHardware) {
  const DeviceProfile* navi = FindDeviceProfile("Navi21").value();
  const std::set<Rule> of_hardware = {Rule::kChainedSums, Rule::kTwoPixelTiles, Rule::kUprightTiles,
                                      Rule::kDeviceDetections, Rule::kLoopLimit};
  for (const DeviceRule& row : DeviceRules()) {
    EXPECT_EQ(Applies(row.rule, Simulated(Driver(), *navi)), of_hardware.contains(row.rule)) << row.name;
  }
  EXPECT_FALSE(Simulated(Driver(), *navi).unified_memory);
}

// llvmpipe and lavapipe end long loops without a word, whatever device they pretend to be.
TEST(DeviceProfiles, KeepTheLimitOfLoopsOfTheDriverUnderneath) {
  for (const DeviceProfile& profile : DeviceProfiles()) {
    EXPECT_TRUE(Applies(Rule::kLoopLimit, Simulated(Driver(), profile))) << profile.name;
  }
  DeviceInfo opencl = Driver();
  opencl.dialect = Dialect::kOpenCl;
  const DeviceInfo simulated = Simulated(opencl, *FindDeviceProfile("navi21").value());
  EXPECT_FALSE(Applies(Rule::kLoopLimit, simulated));
  EXPECT_TRUE(Applies(Rule::kGridClasses, simulated));
}

TEST(DeviceProfiles, AreNamedInWhatTheCacheKeepsProgramsBy) {
  const DeviceInfo navi = Simulated(Driver(), *FindDeviceProfile("navi21").value());
  EXPECT_NE(navi.driver_version, Driver().driver_version);
  EXPECT_NE(navi.uuid, Driver().uuid);
}

TEST(DeviceProfiles, AnUnknownOneIsAnErrorThatListsThemAll) {
  const auto profile = FindDeviceProfile("voodoo");
  ASSERT_FALSE(profile.ok());
  EXPECT_NE(profile.status().message().find("mali-g78"), std::string::npos) << profile.status().message();
}

}  // namespace
}  // namespace hearth
