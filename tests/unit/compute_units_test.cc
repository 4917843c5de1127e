// How many compute units drivers' names stand for.

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <string>

#include "backends/null/device.h"
#include "core/device/device_profiles.h"
#include "core/device/driver_names.h"
#include "core/device/usable_limits.h"

namespace hearth {
namespace {

struct NamedDevice {
  const char* name;
  uint32_t units;
};

// As drivers say them: GL_RENDERER, and Vulkan's where no extension tells the number.
constexpr NamedDevice kNames[] = {
    {"Adreno (TM) 506", 1},
    {"Adreno (TM) 640", 2},
    {"Turnip Adreno (TM) 730", 4},
    {"FD640", 2},
    {"ANGLE (Qualcomm, Adreno (TM) 740, OpenGL ES 3.2 V@0615.0)", 6},
    {"Mali-G78", 14},
    {"Mali-G52 MC2", 2},
    {"Mali-G57 MC5", 5},
    {"Mali-T880", 4},
    {"Mali-G610 (Panfrost)", 4},
    {"Mali-G71 MP20", 20},
    {"Immortalis-G715 MC11", 11},
    {"PowerVR Rogue GE8320", 1},
    {"PowerVR Rogue GX6250", 2},
    {"Mesa Intel(R) UHD Graphics 620 (KBL GT2)", 24},
    {"Intel(R) UHD Graphics 610 (WHL GT1)", 12},
    {"Mesa Intel(R) HD Graphics 5500 (BDW GT2)", 24},
    {"Mesa Intel(R) Iris(R) Xe Graphics (TGL GT2)", 96},
    {"Mesa Intel(R) Graphics (ADL GT2)", 96},
    {"Intel(R) Iris(R) Plus Graphics (ICL GT1.5)", 48},
    {"Mesa Intel(R) Arc(tm) A380 Graphics (DG2)", 128},
    {"Apple M1", 8},
    {"Apple M1 Max", 32},
    {"Apple A14 GPU", 4},
    {"NVIDIA GeForce RTX 3060 Laptop GPU/PCIe/SSE2", 30},
    {"NVIDIA GeForce RTX 3060/PCIe/SSE2", 28},
    {"NVIDIA H100 80GB HBM3/PCIe/SSE2", 132},
    {"NVIDIA H100 PCIe/PCIe/SSE2", 114},
    {"NVIDIA A100-SXM4-40GB/PCIe/SSE2", 108},
    {"ANGLE (NVIDIA, NVIDIA GeForce GTX 1050 Ti Direct3D11 vs_5_0 ps_5_0, D3D11)", 6},
    {"AMD Radeon RX 6800 (navi21, LLVM 15.0.7, DRM 3.54, 6.5.0)", 60},
    {"AMD Radeon RX 6800 XT (navi21, LLVM 15.0.7, DRM 3.54, 6.5.0)", 72},
    {"Radeon RX 580 Series (POLARIS10, DRM 3.42.0, 5.15.0, LLVM 12.0.0)", 36},
    {"AMD Custom GPU 0405 (vangogh, LLVM 15.0.7, DRM 3.54, 6.1.0)", 8},
};

TEST(ComputeUnits, FollowFromTheNamesThatDriversSay) {
  for (const NamedDevice& device : kNames)
    EXPECT_EQ(ComputeUnitsByName(device.name, DeviceType::kOther), device.units) << device.name;
}

TEST(ComputeUnits, OfCardsFollowFromNamesThatSayNoMaker) {
  for (const char* name : {"Tesla M60/PCIe/SSE2", "Quadro P4000/PCIe/SSE2", "NVIDIA RTX 6000 Ada", "TITAN V/PCIe/SSE2"})
    EXPECT_TRUE(NameIsDiscrete(name)) << name;
  for (const char* name : {"NVIDIA Tegra X1", "NVIDIA GB10", "Mali-G78", ""})
    EXPECT_FALSE(NameIsDiscrete(name)) << name;
}

TEST(ComputeUnits, OfUnknownGpusAreAMiddle) {
  for (const char* name :
       {"", " ", "MP4", "Voodoo 3", "Adreno", "Mali-G99 MC0", "Mali-G99 MC", "Mali-G99 MC4000000000"}) {
    EXPECT_EQ(ComputeUnitsByName(name, DeviceType::kOther), kUnitsOfUnknownGpu) << name;
    EXPECT_EQ(ComputeUnitsByName(name, DeviceType::kIntegratedGpu), kUnitsOfUnknownGpu) << name;
    EXPECT_EQ(ComputeUnitsByName(name, DeviceType::kDiscreteGpu), kUnitsOfUnknownDiscreteGpu) << name;
  }
}

TEST(ComputeUnits, StandInATableOfWordsEachWithItsSource) {
  std::set<std::string_view> names;
  for (const ComputeUnitsSource& source : ComputeUnitsTable()) {
    EXPECT_FALSE(source.source.empty());
    for (const ComputeUnitsRow& row : source.rows) {
      EXPECT_TRUE(names.insert(row.name).second) << row.name;
      EXPECT_TRUE(std::ranges::all_of(row.name, [](unsigned char c) {
        return std::islower(c) != 0 || std::isdigit(c) != 0 || c == ' ';
      })) << row.name;
      EXPECT_EQ(ComputeUnitsByName(row.name, DeviceType::kOther), row.units) << row.name;
    }
  }
}

TEST(ComputeUnits, ThatADriverTellsStay) {
  DeviceInfo info;
  info.name = "Adreno (TM) 640";
  info.compute_units = 3;
  EXPECT_EQ(WithUsableLimits(info).compute_units, 3u);
  info.compute_units = 0;
  EXPECT_EQ(WithUsableLimits(info).compute_units, 2u);
  info.type = DeviceType::kCpu;
  EXPECT_EQ(WithUsableLimits(info).compute_units, 1u);
}

TEST(ComputeUnits, OfAProfileAreTheSameWhateverTheApi) {
  for (const DeviceProfile& profile : DeviceProfiles()) {
    if (profile.renderer.empty()) continue;
    for (const Dialect dialect : {Dialect::kOpenCl, Dialect::kGles, Dialect::kVulkan}) {
      DeviceInfo driver = NullDeviceInfo();
      driver.dialect = dialect;
      EXPECT_EQ(Simulated(driver, profile).compute_units, profile.compute_units) << profile.name;
    }
  }
}

TEST(ComputeUnits, OfTheLeastThatAnApiGuaranteesAreThoseOfAnUnknownGpu) {
  DeviceInfo driver = NullDeviceInfo();
  driver.dialect = Dialect::kGles;
  EXPECT_EQ(Simulated(driver, *FindDeviceProfile("gles-3.1-minimum").value()).compute_units, kUnitsOfUnknownGpu);
  driver.dialect = Dialect::kVulkan;
  EXPECT_EQ(Simulated(driver, *FindDeviceProfile("vulkan-1.1-minimum").value()).compute_units,
            kUnitsOfUnknownDiscreteGpu);
}

}  // namespace
}  // namespace hearth
