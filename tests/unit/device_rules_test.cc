#include "core/device/device_rules.h"

#include <gtest/gtest.h>

#include <set>

#include "core/device/usable_limits.h"

namespace hearth {
namespace {

DeviceInfo Lavapipe() {
  DeviceInfo info;
  info.backend = "vulkan";
  info.dialect = Dialect::kVulkan;
  info.type = DeviceType::kCpu;
  info.int64 = true;
  info.subgroup_size = 8;
  info.max_texel_elements = 1 << 27;
  return info;
}

TEST(DeviceRules, EachHasANameOfItsOwnASentenceAndAMeasurement) {
  std::set<std::string_view> names;
  for (const DeviceRule& row : DeviceRules()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_TRUE(row.sentence.ends_with('.')) << row.name;
    EXPECT_FALSE(row.measured.empty()) << row.name;
  }
}

TEST(DeviceRules, NoneOfASoftwareDriverAppliesToAGpu) {
  DeviceInfo info = Lavapipe();
  info.type = DeviceType::kDiscreteGpu;
  for (const DeviceRule& row : DeviceRules()) {
    const bool is_of_software = Applies(row.rule, Lavapipe());
    EXPECT_FALSE(is_of_software && Applies(row.rule, info)) << row.name;
  }
}

TEST(DeviceRules, SixteenBitsAreMultipliedOnGpusThatCan) {
  DeviceInfo info = Lavapipe();
  info.fp16_storage = info.fp16_arithmetic = true;
  EXPECT_FALSE(Applies(Rule::kHalfArithmetic, info)) << "a processor converts each number";
  info.type = DeviceType::kDiscreteGpu;
  EXPECT_TRUE(Applies(Rule::kHalfArithmetic, info));
  EXPECT_FALSE(Applies(Rule::kUnboundedHalves, info)) << "only if forced";
  info.forced_rules = ForcedRulesFromText("+half_arithmetic").value();
  info.fp16_arithmetic = false;
  EXPECT_FALSE(Applies(Rule::kHalfArithmetic, info)) << "the driver has none";
}

TEST(DeviceRules, MatricesAreMultipliedOnlyIfForcedAndWhereTheDeviceCan) {
  DeviceInfo info = Lavapipe();
  info.fp16_storage = info.fp16_arithmetic = true;
  EXPECT_FALSE(IsPossible(Rule::kCooperativeMatrices, info)) << "it lists no shape";
  info.matrix_shape = {16, 16, 16};
  EXPECT_TRUE(IsPossible(Rule::kCooperativeMatrices, info));
  EXPECT_FALSE(Applies(Rule::kCooperativeMatrices, info));
  info.forced_rules = ForcedRulesFromText("+cooperative_matrices").value();
  EXPECT_TRUE(Applies(Rule::kCooperativeMatrices, info));
  info.forced_rules = ForcedRulesFromText("-cooperative_matrices").value();
  EXPECT_FALSE(IsPossible(Rule::kCooperativeMatrices, info));
}

TEST(DeviceRules, GiveConvolutionsOfAmdGpusTilesOfTwoPixels) {
  DeviceInfo info = Lavapipe();
  info.name = "AMD Radeon RX 6800 (RADV NAVI21)";
  EXPECT_FALSE(Applies(Rule::kTwoPixelTiles, info)) << "is software";
  info.type = DeviceType::kDiscreteGpu;
  EXPECT_TRUE(Applies(Rule::kTwoPixelTiles, info));
  info.name = "pthread-AMD EPYC as NVIDIA GeForce RTX 2060";
  EXPECT_FALSE(Applies(Rule::kTwoPixelTiles, info));
}

TEST(DeviceRules, KnowAmdGpusWhoseNamesLackTheWordRadeon) {
  DeviceInfo info = Lavapipe();
  info.type = DeviceType::kIntegratedGpu;
  for (const char* name : {"AMD Custom GPU 0405 (RADV VANGOGH)", "AMD Custom GPU 0405 (vangogh, LLVM 15.0.7)",
                           "gfx1030", "gfx90a:sramecc+:xnack-", "AMD Instinct MI210 (RADV ALDEBARAN)"}) {
    info.name = name;
    EXPECT_TRUE(Applies(Rule::kTwoPixelTiles, info)) << name;
  }
  info.name = "gfxstream";
  EXPECT_FALSE(Applies(Rule::kTwoPixelTiles, info));
}

TEST(DeviceRules, TakeTheTexelBuffersOfSoftpipeForNoneUnlessForcedOff) {
  DeviceInfo info = Lavapipe();
  EXPECT_GT(WithUsableLimits(info).max_texel_elements, 0u);
  info.name = "virgl (SOFTPIPE)";
  EXPECT_EQ(WithUsableLimits(info).max_texel_elements, 0u);
  info.name = "softpipe";
  EXPECT_EQ(WithUsableLimits(info).max_texel_elements, 0u);
  EXPECT_FALSE(Applies(Rule::kTexelReads, WithUsableLimits(info)));
  info.forced_rules = ForcedRulesFromText("-stale_texels").value();
  EXPECT_GT(WithUsableLimits(info).max_texel_elements, 0u);
}

TEST(DeviceRules, AreForcedOffByName) {
  DeviceInfo info = Lavapipe();
  EXPECT_TRUE(Applies(Rule::kWideStores, info));
  info.forced_rules = ForcedRulesFromText("-wide_stores").value();
  EXPECT_FALSE(Applies(Rule::kWideStores, info));
  EXPECT_TRUE(Applies(Rule::kTexelReads, info));
}

TEST(DeviceRules, AreForcedOnOnlyWhereTheDeviceCanDoIt) {
  DeviceInfo info = Lavapipe();
  info.type = DeviceType::kDiscreteGpu;
  info.forced_rules = ForcedRulesFromText("+wide_stores,+wide_vectors").value();
  EXPECT_TRUE(Applies(Rule::kWideStores, info));
  EXPECT_FALSE(Applies(Rule::kWideVectors, info)) << "GLSL has no vectors of 16 floats";
}

TEST(DeviceRules, TheLastWordAboutARuleCounts) {
  EXPECT_EQ(ToText(ForcedRulesFromText("+wide_stores,-texel_reads,-wide_stores").value()), "-texel_reads,-wide_stores");
  EXPECT_EQ(ToText(ForcedRulesFromText("").value()), "");
}

TEST(DeviceRules, AnUnknownOneIsAnErrorThatListsThemAll) {
  for (const char* text : {"+wide", "wide_stores", "+", "+wide_stores,", "-nothing"}) {
    const Result<ForcedRules> forced = ForcedRulesFromText(text);
    if (std::string_view(text) == "+wide_stores,") {
      EXPECT_TRUE(forced.ok());
      continue;
    }
    ASSERT_FALSE(forced.ok()) << text;
    EXPECT_EQ(forced.status().code(), StatusCode::kInvalidArgument);
    EXPECT_NE(forced.status().message().find("subgroup_weights"), std::string::npos) << forced.status().message();
  }
}

}  // namespace
}  // namespace hearth
