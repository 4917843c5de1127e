// Work groups as large as the device's waves want them, within its limits.
#include "core/device/group_size.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>

#include "backends/null/device.h"
#include "tests/testing/parsed_graph.h"

namespace hearth {
namespace {

DeviceInfo Gpu(uint32_t subgroup_size, uint32_t most_items = 1024) {
  DeviceInfo info = NullDeviceInfo();
  info.type = DeviceType::kDiscreteGpu;
  info.subgroup_size = subgroup_size;
  info.max_local_invocations = info.max_local_size[0] = most_items;
  return info;
}

DeviceInfo Software() {
  DeviceInfo info = Gpu(8);
  info.type = DeviceType::kCpu;
  return info;
}

TEST(GroupItems, IsAWholeNumberOfWavesWithinTheLimits) {
  EXPECT_EQ(GroupItems(Gpu(1)), 64u);  // a driver that does not tell
  EXPECT_EQ(GroupItems(Gpu(16)), 64u);
  EXPECT_EQ(GroupItems(Gpu(32)), 64u);
  EXPECT_EQ(GroupItems(Gpu(64)), 64u);
  EXPECT_EQ(GroupItems(Gpu(128)), 128u);
  EXPECT_EQ(GroupItems(Gpu(128, 64)), 64u);
  EXPECT_EQ(GroupItems(Gpu(64, 32)), 8u);
}

TEST(GroupItems, OfProcessorsIsAVector) {
  EXPECT_EQ(GroupItems(Software()), 8u);
  EXPECT_EQ(GroupItemsFor(Software(), 1 << 20, 4), 8u);
}

TEST(GroupItems, OfFewPixelsIsOneWarpWhereThatIsAll) {
  EXPECT_EQ(GroupItemsFor(Gpu(32), 49, 2), 32u);
  EXPECT_EQ(GroupItemsFor(Gpu(32), 49, 1), 64u);
  EXPECT_EQ(GroupItemsFor(Gpu(32), 196, 2), 64u);
  EXPECT_EQ(GroupItemsFor(Gpu(64), 49, 2), 64u);
}

// The items of the work group of the only dispatch.
uint32_t ItemsOf(std::string_view text, const DeviceInfo& info) {
  const Plan plan = testing::Lowered(testing::Parsed(text), info);
  const Dispatch& dispatch = plan.dispatches.at(0);
  const auto& size = plan.kernels[dispatch.kernel].local_size;
  return size[0] * size[1] * size[2];
}

constexpr std::string_view kConvolution = R"(%0 = input : float32[1x32x32x16] "x"
%1 = constant : float32[32x3x3x16] "w" = fill(pattern)
%2 = conv_2d(%0, %1, none) padding=same : float32[1x32x32x32] "y" node "conv"
output %2
)";
constexpr std::string_view kTurnedTensor = R"(%0 = input : float32[1x8x40x64] "x"
%1 = transpose(%0) permutation=0,2,1,3 : float32[1x40x8x64] "y" node "transpose"
output %1
)";

TEST(GroupItems, AreThoseOfConvolutions) {
  EXPECT_EQ(ItemsOf(kConvolution, Gpu(64)), 64u);
  EXPECT_EQ(ItemsOf(kConvolution, Gpu(32)), 64u);
  EXPECT_EQ(ItemsOf(kConvolution, Gpu(128)), 128u);
  EXPECT_EQ(ItemsOf(kConvolution, Software()), 8u);
}

TEST(GroupItems, AreThoseOfCopies) {
  EXPECT_EQ(ItemsOf(kTurnedTensor, Gpu(64)), 64u);
  EXPECT_EQ(ItemsOf(kTurnedTensor, Software()), 8u);
}

// Of the only dispatch.
std::array<uint32_t, 3> SizeOfDepthwise(int pixels_high, int channels, const DeviceInfo& info) {
  const Graph graph = testing::Parsed(fmt::format(
      "%0 = input : float32[1x{0}x{0}x{1}] \"x\"\n%1 = constant : float32[1x3x3x{1}] \"w\" = fill(pattern)\n"
      "%2 = depthwise_conv_2d(%0, %1) padding=same : float32[1x{0}x{0}x{1}] \"y\" node \"conv\"\noutput %2\n",
      pixels_high, channels));
  return testing::Lowered(graph, info).kernels.at(0).local_size;
}

TEST(GroupItems, StandInFourColumnsWherePicturesLeaveMostOfEightIdle) {
  using Size = std::array<uint32_t, 3>;
  EXPECT_EQ(SizeOfDepthwise(16, 64, Gpu(64)), (Size{8, 8, 1}));
  EXPECT_EQ(SizeOfDepthwise(17, 64, Gpu(64)), (Size{4, 2, 8}));
  EXPECT_EQ(SizeOfDepthwise(17, 4, Gpu(64)), (Size{8, 8, 1})) << "one group of 4 channels";
  EXPECT_EQ(SizeOfDepthwise(17, 64, Gpu(64, 32)), (Size{8, 1, 1}));
}

TEST(PictureGroup, IsAWaveOrWhatTheDeviceTakesOfIt) {
  using Size = std::array<uint32_t, 3>;
  DeviceInfo device = Gpu(32);
  EXPECT_EQ(PictureGroup(device), (Size{8, 8, 1}));
  device.max_local_invocations = 32;
  EXPECT_EQ(PictureGroup(device), (Size{8, 4, 1}));
  device.max_local_size = {1, 1, 1};  // the least that OpenCL's embedded profile guarantees
  EXPECT_EQ(PictureGroup(device), (Size{1, 1, 1}));
  device.max_local_invocations = 0;
  EXPECT_EQ(PictureGroup(device), (Size{1, 1, 1})) << "refused later, with the reason";
}

TEST(FittingGroup, IsTheWantedOneIfTheDeviceTakesItElseWhatHalvingLeaves) {
  using Size = std::array<uint32_t, 3>;
  DeviceInfo device = Gpu(32);
  EXPECT_EQ(FittingGroup({64, 1, 1}, device), (Size{64, 1, 1}));
  EXPECT_EQ(FittingGroup({4, 2, 8}, device), (Size{4, 2, 8}));
  device.max_local_invocations = 32;
  EXPECT_EQ(FittingGroup({64, 1, 1}, device), (Size{32, 1, 1}));
  EXPECT_EQ(FittingGroup({8, 8, 1}, device), (Size{8, 4, 1}));
  EXPECT_EQ(FittingGroup({4, 2, 8}, device), (Size{4, 2, 4}));
  device.max_local_size = {64, 1, 1};
  EXPECT_EQ(FittingGroup({8, 8, 1}, device), (Size{8, 1, 1}));
  device.max_local_size = {0, 0, 0};
  EXPECT_EQ(FittingGroup({8, 8, 1}, device), (Size{1, 1, 1})) << "refused later, with the reason";
}

}  // namespace
}  // namespace hearth
