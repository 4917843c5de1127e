#include "core/device/driver_environment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "tests/testing/set_variable.h"

namespace hearth {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
using ::testing::Not;
using testing::SetVariableTo;
using ::testing::StartsWith;

DeviceInfo DriverNamed(Dialect dialect, const char* name, const char* vendor, const char* version) {
  DeviceInfo info;
  info.dialect = dialect;
  info.name = name;
  info.vendor = vendor;
  info.driver_version = version;
  return info;
}

DeviceInfo PoclDriver() {
  return DriverNamed(Dialect::kOpenCl, "pthread-haswell-Intel", "GenuineIntel", "OpenCL 3.0 PoCL 3.1; 3.1");
}
DeviceInfo LlvmpipeDriver() {
  return DriverNamed(Dialect::kGles, "llvmpipe (LLVM 15.0.6, 256 bits)", "Mesa", "OpenGL ES 3.2 Mesa 22.3.6");
}
DeviceInfo LavapipeDriver() {
  return DriverNamed(Dialect::kVulkan, "llvmpipe (LLVM 15.0.6, 256 bits)", "0x10005", "llvmpipe Mesa 22.3.6");
}
DeviceInfo RadvDriver() {
  return DriverNamed(Dialect::kVulkan, "AMD Radeon RX 6800 (RADV NAVI21)", "0x1002", "radv Mesa 24.1");
}
DeviceInfo RadeonsiDriver() {
  return DriverNamed(Dialect::kGles, "AMD Radeon RX 6800 (navi21, LLVM 15)", "AMD", "OpenGL ES 3.2 Mesa 22.3.6");
}
DeviceInfo AnvDriver() {
  return DriverNamed(Dialect::kVulkan, "Intel(R) Arc(tm)", "0x8086", "Intel open-source Mesa driver Mesa 24.1");
}
DeviceInfo IntelOpenClDriver() {
  return DriverNamed(Dialect::kOpenCl, "Intel(R) Arc(TM)", "Intel(R) Corporation", "OpenCL 3.0; 24.22; OpenCL 3.0 NEO");
}
DeviceInfo AmdOpenClDriver() {
  return DriverNamed(Dialect::kOpenCl, "gfx1030", "Advanced Micro Devices, Inc.", "OpenCL 2.1 AMD-APP (3602.0)");
}
DeviceInfo NvidiaDriver() {
  return DriverNamed(Dialect::kOpenCl, "NVIDIA H100", "NVIDIA Corporation", "OpenCL 3.0 CUDA 12.4; 550.54");
}

std::set<std::string_view> ReadBy(const DeviceInfo& driver) {
  const DriverWords words(driver);
  std::set<std::string_view> names;
  for (const DriverVariable& variable : DriverVariables()) {
    if (variable.is_read_by(words)) names.insert(variable.name);
  }
  return names;
}

TEST(DriverEnvironment, EachVariableHasOneRowAndAReason) {
  std::set<std::string_view> names;
  for (const DriverVariable& variable : DriverVariables()) {
    EXPECT_TRUE(names.insert(variable.name).second) << variable.name;
    EXPECT_FALSE(variable.why.empty()) << variable.name;
  }
}

TEST(DriverEnvironment, EachVariableIsReadByTheDriversThatKnowIt) {
  EXPECT_THAT(ReadBy(LlvmpipeDriver()), Contains("GALLIVM_PERF"));
  EXPECT_THAT(ReadBy(LavapipeDriver()), Contains("GALLIVM_PERF"));
  EXPECT_THAT(ReadBy(LavapipeDriver()), Contains("MESA_SPIRV_READ_PATH"));
  EXPECT_THAT(ReadBy(RadvDriver()), Contains("ACO_DEBUG"));
  EXPECT_THAT(ReadBy(RadeonsiDriver()), Contains("AMD_DEBUG"));
  EXPECT_THAT(ReadBy(AnvDriver()), Contains("INTEL_DEBUG"));
  EXPECT_THAT(ReadBy(IntelOpenClDriver()), IsSupersetOf({"IGC_*", "CL_CONFIG_*", "VOLCANO_*"}));
  EXPECT_THAT(ReadBy(AmdOpenClDriver()), IsSupersetOf({"AMD_OCL_BUILD_OPTIONS_APPEND", "GPU_ENABLE_*"}));
  EXPECT_THAT(ReadBy(PoclDriver()), Contains("POCL_EXTRA_BUILD_FLAGS"));
}

TEST(DriverEnvironment, TheSizeOfAWaveAndTheCompilersOptionsMakeAnotherEnvironment) {
  for (const auto& [driver, name] :
       {std::pair(AmdOpenClDriver(), "GPU_ENABLE_WAVE32_MODE"), std::pair(AmdOpenClDriver(), "GPU_ENABLE_LC"),
        std::pair(AmdOpenClDriver(), "AMD_OCL_SUBST_OBJFILE"), std::pair(AmdOpenClDriver(), "OCL_STUB_PROGRAMS"),
        std::pair(AmdOpenClDriver(), "AMD_GPU_FORCE_SINGLE_FP_DENORM"), std::pair(RadeonsiDriver(), "R600_DEBUG"),
        std::pair(IntelOpenClDriver(), "CL_CONFIG_LLVM_OPTIONS"), std::pair(IntelOpenClDriver(), "VOLCANO_CPU_ARCH")}) {
    const SetVariableTo none(name, std::nullopt);
    const std::string without = DriverEnvironmentOf(driver);
    const SetVariableTo set(name, "1");
    EXPECT_NE(DriverEnvironmentOf(driver), without) << name;
  }
}

TEST(DriverEnvironment, AVariableIsADriversByItsWholeNameOrByTheBeginningOfManyNames) {
  for (const char* name : {"GALLIVM_PERF", "IGC_EnableLoopUnroll", "CL_CONFIG_CPU_TARGET_ARCH"}) {
    EXPECT_TRUE(IsDriverVariable(name)) << name;
  }
  for (const char* name : {"", "GALLIVM", "GALLIVM_PERFECT", "IGC", "AIGC_EnableLoopUnroll", "PATH"}) {
    EXPECT_FALSE(IsDriverVariable(name)) << name;
  }
}

TEST(DriverEnvironment, NoVariableIsReadByTheDriversOfOthers) {
  EXPECT_TRUE(ReadBy(NvidiaDriver()).empty());
  for (const std::string_view name : ReadBy(PoclDriver())) EXPECT_THAT(name, StartsWith("POCL_"));
  for (const DeviceInfo& other : {LlvmpipeDriver(), LavapipeDriver(), RadvDriver(), RadeonsiDriver(), AnvDriver(),
                                  IntelOpenClDriver(), AmdOpenClDriver()}) {
    for (const std::string_view name : ReadBy(other)) EXPECT_THAT(name, Not(StartsWith("POCL_"))) << other.name;
  }
  EXPECT_THAT(ReadBy(RadvDriver()), Not(Contains("GALLIVM_PERF")));
  EXPECT_THAT(ReadBy(RadvDriver()), Not(Contains("AMD_DEBUG")));
  EXPECT_THAT(ReadBy(AnvDriver()), Not(Contains("IGC_*")));
  EXPECT_THAT(ReadBy(LlvmpipeDriver()), Not(Contains("MESA_SPIRV_READ_PATH")));
}

TEST(DriverEnvironment, ChangesWithTheValueAndOnlyForItsDriver) {
  const auto both = [](const std::optional<std::string>& value) {
    const SetVariableTo set("GALLIVM_PERF", value);
    return std::pair(DriverEnvironmentOf(LlvmpipeDriver()), DriverEnvironmentOf(PoclDriver()));
  };
  const auto unset = both(std::nullopt), one = both("nopt"), other = both("nopt,no_quad_lod");
  EXPECT_NE(unset.first, one.first);
  EXPECT_NE(one.first, other.first);
  EXPECT_EQ(one.first, both("nopt").first);
  EXPECT_EQ(unset.second, one.second);
}

TEST(DriverEnvironment, IsEmptyWhereNothingIsSet) {
  EXPECT_EQ(DriverEnvironmentOf(NvidiaDriver()), "");
  const SetVariableTo set("AMD_OCL_BUILD_OPTIONS", std::nullopt);
  EXPECT_THAT(DriverEnvironmentOf(AmdOpenClDriver()), Not(HasSubstr("AMD_OCL_BUILD_OPTIONS=")));
}

// POCL_WORK_GROUP_SPECIALIZATION= turns off what is on without it.
TEST(DriverEnvironment, TellsAnEmptyValueFromNone) {
  const SetVariableTo none("POCL_WORK_GROUP_SPECIALIZATION", std::nullopt);
  const std::string without = DriverEnvironmentOf(PoclDriver());
  const SetVariableTo empty("POCL_WORK_GROUP_SPECIALIZATION", "");
  EXPECT_NE(DriverEnvironmentOf(PoclDriver()), without);
}

TEST(DriverEnvironment, ShowsNoValueAndStaysShort) {
  const std::string secret = "/folder/of/somebody/" + std::string(100000, 'x');
  const SetVariableTo set("MESA_SHADER_READ_PATH", secret);
  const std::string text = DriverEnvironmentOf(LlvmpipeDriver());
  EXPECT_THAT(text, HasSubstr("MESA_SHADER_READ_PATH="));
  EXPECT_THAT(text, Not(HasSubstr("somebody")));
  EXPECT_LT(text.size(), DriverVariables().size() * 64);
}

TEST(DriverEnvironment, HasOneTextForAllVariablesOfAPrefix) {
  const std::string before = DriverEnvironmentOf(IntelOpenClDriver());
  const SetVariableTo one("IGC_EnableLoopUnroll", "0");
  const std::string with_one = DriverEnvironmentOf(IntelOpenClDriver());
  const SetVariableTo two("IGC_VISAOptions", "-noschedule");
  const std::string with_two = DriverEnvironmentOf(IntelOpenClDriver());
  EXPECT_THAT(with_one, HasSubstr("IGC_*="));
  EXPECT_NE(with_one, before);
  EXPECT_NE(with_one, with_two);
  EXPECT_EQ(with_one.size(), with_two.size());
}

}  // namespace
}  // namespace hearth
