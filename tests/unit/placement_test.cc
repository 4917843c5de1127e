// Which nodes a device takes, as everything but Lower is told: the same as Lower does.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "backends/null/device.h"
#include "tests/testing/parsed_graph.h"

namespace hearth {
namespace {

// The second node's result is four times as large as the others.
Graph Network() {
  return testing::Parsed(R"(graph "wide"
%0 = input : float32[1x8x8x8] "x"
%1 = neg(%0) : float32[1x8x8x8] "a" node "neg" operator 0
%2 = resize_nearest(%1) size=32x32 : float32[1x32x32x8] "b" node "large" operator 1
%3 = max_pool_2d(%2) kernel=4x4 stride=4x4 : float32[1x8x8x8] "c" node "pool" operator 2
%4 = abs(%3) : float32[1x8x8x8] "d" node "abs" operator 3
output %4
)");
}

DeviceInfo DeviceOfBindings(uint64_t max_bytes) {
  DeviceInfo device = NullDeviceInfo();
  device.max_binding_bytes = max_bytes;
  return device;
}

TEST(PlaceNodesThatFit, LeavesWhatABindingDoesNotHoldAndNothingElse) {
  const std::vector<Placement> placements = PlaceNodesThatFit(Network(), DeviceOfBindings(6000), {});
  ASSERT_EQ(placements.size(), 4u);
  EXPECT_TRUE(placements[0].on_device);
  EXPECT_FALSE(placements[1].on_device);
  EXPECT_THAT(placements[1].reason, ::testing::HasSubstr("too large for the device"));
  EXPECT_FALSE(placements[2].on_device);
  EXPECT_TRUE(placements[3].on_device);
}

TEST(PlaceNodesThatFit, AgreesWithThePlan) {
  const Graph graph = Network();
  for (const uint64_t limit : {uint64_t{1} << 30, uint64_t{6000}, uint64_t{64}}) {
    const Result<Plan> plan = Lower(graph, DeviceOfBindings(limit), {});
    ASSERT_TRUE(plan.ok()) << plan.status().message();
    std::vector<std::string> left, in_plan;
    for (const Placement& placement : PlaceNodesThatFit(graph, DeviceOfBindings(limit), {}))
      if (!placement.on_device) left.push_back(placement.reason);
    for (const Fallback& fallback : plan->fallbacks) in_plan.push_back(fallback.reason);
    EXPECT_EQ(left, in_plan) << limit;
  }
}

// Each maximum reads the one before twice: there are 2^60 ways from the last to the first.
TEST(PlaceNodes, AsksEachNodeOnceWhetherIntegersFit) {
  for (const std::string_view source : {"int32", "int64"}) {
    std::string text = fmt::format("%0 = input : {}[1x8] \"x\"\n%1 = cast(%0) to=int64 : int64[1x8] \"c\"\n", source);
    for (int id = 2; id < 62; ++id)
      text += fmt::format("%{0} = maximum(%{1}, %{1}) : int64[1x8] \"v{0}\"\n", id, id - 1);
    const Graph graph = testing::Parsed(text + "output %61\n");
    for (const Placement& placement : PlaceNodes(graph, NullDeviceInfo(), {}))
      EXPECT_EQ(placement.on_device, source == "int32") << placement.reason;
  }
}

TEST(PlaceNodes, KeepsOperationsWithQuantizedTensorsOnTheCpuIfTheyAreExcluded) {
  const Graph graph = testing::Parsed(R"(graph "half"
%0 = input : float32[1x4] "x"
%1 = neg(%0) : float32[1x4] "a"
%2 = quantize(%1) : int8[1x4]{0.5/0} "b"
output %2
)");
  for (const bool are_excluded : {false, true}) {
    LowerOptions options;
    if (are_excluded) options.cpu_ops = {"quantized"};
    const std::vector<Placement> placements = PlaceNodes(graph, NullDeviceInfo(), options);
    EXPECT_TRUE(placements.front().on_device) << placements.front().reason;
    EXPECT_EQ(placements.back().on_device, !are_excluded) << placements.back().reason;
  }
}

}  // namespace
}  // namespace hearth
