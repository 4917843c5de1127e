// Which kernel searches the largest channels: a work item for each pixel, or a group where the device has one to spare.
#include <gtest/gtest.h>

#include "core/device/device_profiles.h"
#include "core/device/device_rules.h"
#include "core/graph/evaluate.h"
#include "tests/testing/parsed_graph.h"

namespace hearth {
namespace {

DeviceInfo TopKGpu() {
  DeviceInfo info;
  info.backend = "vulkan";
  info.dialect = Dialect::kVulkan;
  info.type = DeviceType::kDiscreteGpu;
  return info;
}

KernelSource TopKKernel(const DeviceInfo& device, const Shape& shape) {
  Graph graph;
  graph.inputs = {graph.AddValue({.name = "x", .desc = {.shape = shape}})};
  const ValueId values = graph.AddValue({.name = "values"});
  const ValueId positions = graph.AddValue({.name = "positions", .desc = {.dtype = DType::kInt32}});
  graph.AddNode({.op = TopK{5}, .inputs = graph.inputs, .outputs = {values, positions}, .name = "top"});
  graph.outputs = {values, positions};
  EXPECT_TRUE(InferShapes(graph).ok());
  for (const KernelSource& kernel : testing::Lowered(graph, device).kernels) {
    if (kernel.name.starts_with("topk")) return kernel;
  }
  ADD_FAILURE() << "the plan has no kernel for it";
  return {};
}

TEST(TopKLowering, FewPixelsOfManyChannelsAreAGroupsEach) {
  const KernelSource kernel = TopKKernel(TopKGpu(), {1, 1001});
  EXPECT_EQ(kernel.name, "topk_shared");
  EXPECT_EQ(kernel.local_size[0], 64u);
}

TEST(TopKLowering, FewChannelsAndManyPixelsAreAWorkItemsEach) {
  EXPECT_EQ(TopKKernel(TopKGpu(), {1, 21}).name, "topk");
  EXPECT_EQ(TopKKernel(TopKGpu(), {1, 65, 65, 150}).name, "topk");
}

TEST(TopKLowering, SoftwareDriversKeepAWorkItemForEachPixel) {
  DeviceInfo device = TopKGpu();
  device.type = DeviceType::kCpu;
  EXPECT_EQ(TopKKernel(device, {1, 1001}).name, "topk");
  device.forced_rules = ForcedRulesFromText("-one_item_sums").value();
  EXPECT_EQ(TopKKernel(device, {1, 1001}).name, "topk_shared");
}

TEST(TopKLowering, AGroupIsNoLargerThanTheDeviceTakes) {
  DeviceInfo device = TopKGpu();
  device.max_local_invocations = 48;
  EXPECT_EQ(TopKKernel(device, {1, 1001}).local_size[0], 32u);
  device.max_local_invocations = 8;
  EXPECT_EQ(TopKKernel(device, {1, 1001}).name, "topk");
  device = TopKGpu();
  device.local_memory_bytes = 512;
  EXPECT_EQ(TopKKernel(device, {1, 1001}).name, "topk");
}

TEST(TopKLowering, RowsThatWouldBeReadTooOftenAreSortedByTheCpu) {
  const auto is_on_device = [](int32_t length, int32_t k) {
    Graph graph;
    graph.inputs = {graph.AddValue({.name = "x", .desc = {.shape = {2, length}}})};
    const ValueId values = graph.AddValue({.name = "values"});
    const ValueId positions = graph.AddValue({.name = "positions", .desc = {.dtype = DType::kInt32}});
    graph.AddNode({.op = TopK{k}, .inputs = graph.inputs, .outputs = {values, positions}, .name = "top"});
    graph.outputs = {values, positions};
    EXPECT_TRUE(InferShapes(graph).ok());
    return !testing::Lowered(graph, TopKGpu()).kernels.empty();
  };
  EXPECT_TRUE(is_on_device(1000, 1000));
  EXPECT_TRUE(is_on_device(1000000, 1));
  EXPECT_FALSE(is_on_device(2000, 2000));
  EXPECT_FALSE(is_on_device(100000, 300));
}

}  // namespace
}  // namespace hearth
