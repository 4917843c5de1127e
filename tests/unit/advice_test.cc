// What users are told about a model that does not run, or not as fast as it might.
#include "runtime/plans/advice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/graph/evaluate.h"
#include "tests/testing/graph_from_text.h"

namespace hearth {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

DeviceInfo Gpu() {
  DeviceInfo info;
  info.backend = "vulkan";
  info.id = "vulkan:0";
  return info;
}

Graph Parsed(std::string_view text) {
  Result<Graph> graph = GraphFromText(text);
  EXPECT_TRUE(graph.ok()) << graph.status().message();
  return std::move(graph).value();
}

// `host`: indices of nodes that run on the CPU.
std::vector<Placement> Places(const Graph& graph, const std::vector<int>& host = {}) {
  std::vector<Placement> placements(graph.nodes().size(), {true, ""});
  for (int node : host) placements[node] = {false, "no kernel on vulkan:0"};
  return placements;
}

std::vector<std::string> Kinds(const std::vector<Advice>& advice) {
  std::vector<std::string> kinds;
  for (const Advice& item : advice) kinds.push_back(item.kind);
  return kinds;
}

Advice Of(const std::vector<Advice>& advice, const std::string& kind) {
  for (const Advice& item : advice) {
    if (item.kind == kind) return item;
  }
  ADD_FAILURE() << "no advice of kind " << kind;
  return {};
}

// A convolution large enough for a GPU: 512x512x64x64x9 multiply-adds.
constexpr std::string_view kLarge = R"(graph "large"
%0 = input : float32[1x512x512x64] "x"
%1 = constant : float32[64x3x3x64] "w" = fill(0.5)
%2 = conv_2d(%0, %1) padding=same : float32[1x512x512x64] "y" operator 0
output %2
)";

TEST(Advice, IsSilentWhereNothingIsWrong) {
  const Graph graph = Parsed(kLarge);
  EXPECT_THAT(AdviceOn(graph, Places(graph), Gpu()), IsEmpty());
}

TEST(Advice, TellsTheShareOfPaddingInChannelsThatAreNoMultipleOfFour) {
  // x has 3 of 4 channels, y 5 of 8: 8 of 12 are used.
  const Graph graph = Parsed(R"(graph "odd"
%0 = input : float32[1x2048x2048x3] "x"
%1 = constant : float32[5x3x3x3] "w" = fill(0.5)
%2 = conv_2d(%0, %1) padding=same : float32[1x2048x2048x5] "y" operator 0
output %2
)");
  const std::vector<Advice> advice = AdviceOn(graph, Places(graph), Gpu());
  EXPECT_THAT(Kinds(advice), ElementsAre("channel-padding"));
  EXPECT_NEAR(advice[0].numbers.at("wasted_share"), 1.0 - 8.0 / 12.0, 1e-9);
  EXPECT_THAT(advice[0].text, HasSubstr("2 tensors have channels that are not a multiple of 4"));
  EXPECT_THAT(advice[0].text, HasSubstr("33 %"));
  EXPECT_THAT(advice[0].text, HasSubstr("most of it in 'y' (1x2048x2048x5)"));
}

TEST(Advice, CountsOperationsThatOnlyMoveData) {
  // The first reshape keeps the channels and costs nothing.
  const Graph graph = Parsed(R"(graph "moves"
%0 = input : float32[1x4x4x8] "x"
%1 = reshape(%0) shape=1x16x8 : float32[1x16x8] "a" operator 0
%2 = reshape(%1) shape=1x128 : float32[1x128] "b" operator 1
%3 = concat(%2, %2) axis=1 : float32[1x256] "y" operator 2
output %3
)");
  const Advice advice = Of(AdviceOn(graph, Places(graph), Gpu()), "data-movement");
  EXPECT_EQ(advice.numbers.at("operations"), 2);
  EXPECT_EQ(advice.numbers.at("bytes"), 2 * 4 * (128 + 256));
  EXPECT_THAT(advice.text, HasSubstr("(concat 1, reshape 1)"));
}

TEST(Advice, NamesEdgesThatAreConvertedOnEveryRun) {
  const Graph graph = Parsed(R"(graph "quantized"
%0 = input : uint8[1x4x4x4]{0.5/128} "picture"
%1 = relu(%0) : uint8[1x4x4x4]{0.5/128} "y" operator 0
output %1
)");
  const Advice advice = Of(AdviceOn(graph, Places(graph), Gpu()), "converted-edges");
  EXPECT_THAT(advice.text, HasSubstr("'picture' (uint8), 'y' (uint8) are converted"));
  EXPECT_EQ(advice.numbers.at("bytes"), 128);
}

TEST(Advice, CountsPiecesAndWhatCrossesBetweenThem) {
  const Graph graph = Parsed(R"(graph "pieces"
%0 = input : float32[1x4] "x"
%1 = neg(%0) : float32[1x4] "a" operator 0
%2 = neg(%1) : float32[1x4] "b" operator 1
%3 = neg(%2) : float32[1x4] "y" operator 2
output %3
)");
  const Advice advice = Of(AdviceOn(graph, Places(graph, {1}), Gpu()), "splits");
  EXPECT_EQ(advice.numbers.at("pieces"), 3);
  EXPECT_EQ(advice.numbers.at("bytes"), 32);
}

TEST(Advice, SaysWhenAModelIsTooSmallForAGpuButNotToTheCpu) {
  const Graph graph = Parsed(R"(graph "tiny"
%0 = input : float32[1x4] "x"
%1 = neg(%0) : float32[1x4] "y" operator 0
output %1
)");
  EXPECT_THAT(Kinds(AdviceOn(graph, Places(graph), Gpu())), ElementsAre("too-small"));
  DeviceInfo cpu;
  cpu.backend = kHostBackend;
  EXPECT_THAT(AdviceOn(graph, Places(graph, {0}), cpu), IsEmpty());
}

TEST(Advice, NamesAnOperationThatNothingCanRunAndTheReason) {
  Graph graph = Parsed(R"(graph "strange"
%0 = input : float32[1x4] "x"
%1 = unknown(%0) op="FOO" reason="bar is computed at run time" : float32[1x4] "y" operator 7
output %1
)");
  DeviceInfo cpu;
  cpu.backend = kHostBackend;
  const std::vector<Advice> advice = AdviceOn(graph, Places(graph, {0}), cpu);
  ASSERT_THAT(Kinds(advice), ElementsAre("unknown-operation"));
  EXPECT_THAT(advice[0].text, HasSubstr("op 7 FOO has a form that Hearth can't run"));
  // What `run` says: operator, index and what to do in one sentence.
  EXPECT_THAT(InferShapes(graph).message(),
              HasSubstr("op 7 FOO has a form that Hearth can't run (bar is computed at run time); convert the model"));
}

TEST(PlacementWarnings, AreOnePerReasonNamingItsFirstOperator) {
  const std::vector<Fallback> fallbacks = {{3, "softmax", "excluded by --cpu-ops"},
                                           {63, "TFLite_Detection_PostProcess", "no kernel on gles:0"},
                                           {70, "softmax", "excluded by --cpu-ops"}};
  EXPECT_THAT(PlacementWarnings(fallbacks, 3),
              ElementsAre("op 3 softmax: excluded by --cpu-ops; runs on the CPU",
                          "op 63 TFLite_Detection_PostProcess: no kernel on gles:0; runs on the CPU"));
}

TEST(PlacementWarnings, NameAnOperationThatIsNotInTheFileWithoutANumber) {
  const std::vector<Fallback> fallbacks = {{-1, "topk", "no kernel on gles:0"}};
  EXPECT_THAT(PlacementWarnings(fallbacks, 1), ElementsAre("topk: no kernel on gles:0; runs on the CPU"));
}

TEST(PlacementWarnings, TellThatManyPiecesCostTransfers) {
  EXPECT_THAT(PlacementWarnings({}, kFewPieces), IsEmpty());
  EXPECT_THAT(PlacementWarnings({}, kFewPieces + 1), ElementsAre(HasSubstr("split into 5 pieces")));
}

TEST(PlacementWarnings, NameCpuOpsThatTheModelHasNot) {
  const Graph graph = Parsed(kLarge);
  const std::vector<std::string> cpu_ops = {"conv_2d", "CONV_2D", "op:0", "softmax", "op:1"};
  EXPECT_THAT(UnknownCpuOpsWarnings(graph, cpu_ops), ElementsAre(HasSubstr("'softmax'"), HasSubstr("'op:1'")));
}

}  // namespace
}  // namespace hearth
