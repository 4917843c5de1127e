// Passes that make constants: of small files they must not make gigabytes.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "core/graph/passes/pass.h"
#include "tests/testing/child_process.h"
#include "tests/testing/parsed_graph.h"

namespace hearth {
namespace {

using testing::ExitCodeInLittleMemory;
using testing::Parsed;

void ExpectLittleMemory(const std::string& text) {
  SCOPED_TRACE(text);
  EXPECT_EQ(ExitCodeInLittleMemory([&text] {
              Graph graph = Parsed(text);
              return RunPasses(graph, DeviceInfo(), {}).ok();
            }),
            0);
}

TEST(PassesMemory, ANumberIsNotRepeatedForTwoBillionChannels) {
  // Beside an input: no convolution is there.
  ExpectLittleMemory(R"(graph "g"
%0 = input : float32[2147483647] "x"
%1 = constant : float32[1] "c" = {1}
%2 = add(%0, %1) : float32[2147483647] "y" node "add"
output %2
)");
  // Behind a filter that is computed, so that no file has to hold it.
  ExpectLittleMemory(R"(graph "g"
%0 = input : float32[1x1] "x"
%1 = input : float32[2147483647x1] "w"
%2 = constant : float32[1] "c" = {1}
%3 = fully_connected(%0, %1) : float32[1x2147483647] "t" node "fc"
%4 = add(%3, %2) : float32[1x2147483647] "y" node "add"
output %4
)");
  // Before such a filter, and before a node that is no convolution.
  for (const char* kind : {"mul", "add"}) {
    ExpectLittleMemory(fmt::format(R"(graph "g"
%0 = input : float32[1x2147483647] "x"
%1 = input : float32[1x2147483647] "w"
%2 = constant : float32[1] "c" = {{2}}
%3 = {}(%0, %2) : float32[1x2147483647] "t" node "change"
%4 = fully_connected(%3, %1) : float32[1x1] "y" node "fc"
output %4
)",
                                   kind));
    ExpectLittleMemory(fmt::format(R"(graph "g"
%0 = input : float32[1x2147483647] "x"
%1 = constant : float32[1] "c" = {{2}}
%2 = {}(%0, %1) : float32[1x2147483647] "t" node "change"
%3 = abs(%2) : float32[1x2147483647] "y" node "abs"
output %3
)",
                                   kind));
  }
}

// Each of the nodes wants a scaled filter of its own.
TEST(PassesMemory, NodesThatShareAFilterMakeOnlySomeCopiesOfIt) {
  constexpr int kNodes = 40;
  constexpr size_t kFilterBytes = size_t{4} << 20;
  std::string text = R"(graph "g"
%0 = input : float32[1x1024] "x"
%1 = constant : float32[1024x1024] "w" = fill(pattern)
%2 = constant : float32[1] "c" = {2}
)";
  for (int k = 0; k < kNodes; ++k) {
    const int made = 3 + 2 * k;
    text += fmt::format("%{} = fully_connected(%0, %1) : float32[1x1024] \"t{}\" node \"fc{}\"\n", made, k, k);
    text += fmt::format("%{} = mul(%{}, %2) : float32[1x1024] \"y{}\" node \"mul{}\"\n", made + 1, made, k, k);
  }
  for (int k = 0; k < kNodes; ++k) text += fmt::format("output %{}\n", 4 + 2 * k);
  Graph graph = Parsed(text);
  const size_t before = graph.ConstantsSizeBytes();
  ASSERT_GE(before, kFilterBytes);
  ASSERT_TRUE(RunPasses(graph, DeviceInfo(), {}).ok());
  const size_t made = graph.ConstantsSizeBytes() - before;
  EXPECT_GE(made, kFilterBytes);                                 // scaling is folded while there is room
  EXPECT_LE(made, 4 * before + (size_t{64} << 20));              // and no longer than that
  EXPECT_GT(graph.nodes().size(), static_cast<size_t>(kNodes));  // nodes without room stay as they were
}

}  // namespace
}  // namespace hearth
