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

TEST(DeviceProfiles, EachHasANameOfItsOwnASourceAndAnApi) {
  std::set<std::string_view> names;
  for (const DeviceProfile& profile : DeviceProfiles()) {
    EXPECT_TRUE(names.insert(profile.name).second) << profile.name;
    EXPECT_FALSE(profile.source.empty()) << profile.name;
    EXPECT_TRUE(profile.opencl || profile.gles || profile.vulkan) << profile.name;
    EXPECT_NE(profile.type, DeviceType::kCpu) << profile.name;
    EXPECT_GT(profile.max_local_invocations, 0u) << profile.name;
    EXPECT_GT(profile.max_binding_bytes, 0u) << profile.name;
    EXPECT_GT(profile.max_storage_buffers, 0u) << profile.name;
  }
}

TEST(DeviceProfiles, NeverGrantMoreThanTheDriverHas) {
  const DeviceInfo driver = Driver();
  for (const DeviceProfile& profile : DeviceProfiles()) {
    const DeviceInfo info = Simulated(driver, profile);
    EXPECT_LE(info.max_local_invocations, driver.max_local_invocations) << profile.name;
    EXPECT_LE(info.max_buffer_bytes, driver.max_buffer_bytes) << profile.name;
    EXPECT_LE(info.max_texel_elements, driver.max_texel_elements) << profile.name;
    EXPECT_LE(info.max_storage_buffers, driver.max_storage_buffers) << profile.name;
    EXPECT_LE(info.max_scalar_bytes, driver.max_scalar_bytes) << profile.name;
    EXPECT_GE(info.buffer_offset_alignment, driver.buffer_offset_alignment) << profile.name;
    EXPECT_LE(info.subgroup_size, driver.subgroup_size) << profile.name;
    EXPECT_FALSE(info.int64) << profile.name;
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
  EXPECT_FALSE(Applies(Rule::kLoopLimit, Simulated(opencl, *FindDeviceProfile("navi21").value())));
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
