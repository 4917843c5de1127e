// Which nodes on the CPU make one step of a plan.
#include <gtest/gtest.h>

#include <algorithm>

#include "backends/null/device.h"
#include "core/graph/evaluate.h"
#include "core/graph/graph_text.h"
#include "core/lowering/lower.h"

namespace hearth {
namespace {

size_t HostSteps(const LowerOptions& options) {
  Result<Graph> graph = GraphFromText(R"(graph "three"
%0 = input : float32[1x4x4x8] "x"
%1 = softmax(%0) : float32[1x4x4x8] "a" node "first" operator 0
%2 = reshape(%1) shape=1x16x8 : float32[1x16x8] "b" node "reshape" operator 1
%3 = softmax(%2) : float32[1x16x8] "c" node "second" operator 2
output %3
)");
  EXPECT_TRUE(graph.ok() && InferShapes(*graph).ok()) << graph.status().message();
  const Result<Plan> plan = Lower(*graph, NullDeviceInfo(), options);
  EXPECT_TRUE(plan.ok()) << plan.status().message();
  EXPECT_EQ(plan->dispatch_count(), 0u);
  return static_cast<size_t>(
      std::ranges::count_if(plan->steps, [](const auto& step) { return std::holds_alternative<HostStep>(step); }));
}

// A step on the CPU reads what lies on the device at its start, and the reshape is another name for what lies there.
TEST(HostSteps, ANodeBehindAReshapeOnTheDeviceIsAStepOfItsOwn) {
  LowerOptions options;
  options.cpu_ops = {"softmax"};
  EXPECT_EQ(HostSteps(options), 2u);
  options.cpu_ops.push_back("reshape");
  EXPECT_EQ(HostSteps(options), 1u);
}

}  // namespace
}  // namespace hearth
