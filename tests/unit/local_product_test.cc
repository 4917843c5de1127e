// Products in local memory: candidates within a device's limits, none that is mostly idle, and no rule's choice.
#include <gtest/gtest.h>

#include <string>

#include "backends/null/device.h"
#include "core/device/device_profiles.h"
#include "core/emit/kernel_limits.h"
#include "core/graph/op_text.h"
#include "core/lowering/group_product.h"
#include "core/lowering/tunable_layers.h"
#include "tests/testing/parsed_graph.h"

namespace hearth {
namespace {

DeviceInfo GpuWith(uint32_t local_memory_bytes) {
  DeviceInfo driver = NullDeviceInfo();
  driver.type = DeviceType::kCpu;
  driver.local_memory_bytes = local_memory_bytes;
  return Simulated(driver, *FindDeviceProfile("navi21").value());
}

constexpr ProductSize kManyPixels = {784, 256, 256};

TEST(LocalProduct, CandidatesStayWithinLocalMemory) {
  EXPECT_EQ(LocalCandidates(GpuWith(32768), kManyPixels).size(), 5u);
  const auto small = LocalCandidates(GpuWith(6400), kManyPixels);
  EXPECT_EQ(small.size(), 3u) << "4 by 2 in 6,400 bytes, or 16 across, and 2 by 2 in less";
  EXPECT_TRUE(LocalCandidates(GpuWith(4096), kManyPixels).empty());
}

TEST(LocalProduct, IsNotForProcessorsSmallGroupsAndMoreGroupsThanADimensionHas) {
  DeviceInfo device = GpuWith(32768);
  device.type = DeviceType::kCpu;
  EXPECT_TRUE(LocalCandidates(device, kManyPixels).empty());
  device = GpuWith(32768);
  device.max_local_invocations = 32;
  EXPECT_TRUE(LocalCandidates(device, kManyPixels).empty());
  EXPECT_TRUE(LocalCandidates(GpuWith(32768), {int64_t{1} << 24, 64, 64}).empty());
}

TEST(LocalProduct, TilesAreNoMoreThanTwiceTheResult) {
  for (const KernelChoice& choice : LocalCandidates(GpuWith(32768), {20, 64, 32})) {
    EXPECT_LE(choice.lanes * choice.rows, 40) << ToText(choice);
    EXPECT_LE(64 / choice.lanes * choice.cols, 16) << ToText(choice);
  }
  EXPECT_TRUE(LocalCandidates(GpuWith(32768), {4, 512, 512}).empty());
  EXPECT_TRUE(LocalCandidates(GpuWith(32768), {784, 512, 3}).empty());
}

TEST(LocalProduct, IsMeasuredByTuningAndPickedByNoRule) {
  const Graph graph = testing::Parsed(
      "%0 = input : float32[1x28x28x64] \"x\"\n%1 = constant : float32[64x1x1x64] \"w\" = fill(pattern)\n"
      "%2 = conv_2d(%0, %1, none) : float32[1x28x28x64] \"y\" node \"conv\"\noutput %2\n");
  const DeviceInfo device = GpuWith(32768);
  int local = 0;
  for (const TunableLayer& layer : TunableLayers(graph, device, {})) {
    EXPECT_NE(layer.candidates.front().variant, kLocalVariant);
    for (const KernelChoice& choice : layer.candidates) {
      if (choice.variant != kLocalVariant) continue;
      ++local;
      const Result<Plan> plan = LowerLayer(graph, device, {}, choice);
      ASSERT_TRUE(plan.ok()) << plan.status().message();
      EXPECT_EQ(plan->kernels.at(0).name, "pointwise_local");
      EXPECT_TRUE(CheckKernelLimits(plan->kernels.at(0), device).ok()) << ToText(choice);
    }
  }
  EXPECT_GT(local, 1);
}

}  // namespace
}  // namespace hearth
