#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "core/graph/op_text.h"
#include "core/graph/passes/pass.h"
#include "tests/testing/pass_check.h"

namespace hearth {
namespace {

using testing::ExpectEqualResults;
using testing::ExpectValid;
using testing::Parsed;
using testing::Structure;

// ---- The pipeline ----

constexpr std::string_view kWholeNet = R"(graph "g"
%0 = input : float32[1x6x6x2] "x"
%1 = constant : float32[4x3x3x2] "w" = fill(pattern)
%2 = constant : float32[4] "s" = {1, -2, 3, 4}
%3 = copy(%0) : float32[1x6x6x2] "a" node "copy"
%4 = pad(%3) before=0x1x1x0 after=0x1x1x0 : float32[1x8x8x2] "b" node "pad"
%5 = tile(%4) multiples=1x1x1x1 : float32[1x8x8x2] "c" node "tile"
%6 = conv_2d(%5, %1) stride=2x2 : float32[1x3x3x4] "d" node "conv" operator 3
%7 = mul(%6, %2) : float32[1x3x3x4] "e" node "mul"
%8 = reshape(%7) shape=1x3x3x4 : float32[1x3x3x4] "f" node "same shape"
%9 = add(%8, %2) : float32[1x3x3x4] "h" node "add"
%10 = relu(%9) : float32[1x3x3x4] "i" node "relu"
%11 = exp(%10) : float32[1x3x3x4] "dead" node "dead"
%12 = reshape(%10) shape=9x4 : float32[9x4] "j" node "reshape"
%14 = transpose(%12) permutation=1,0 : float32[4x9] "k" node "transpose"
%15 = transpose(%14) permutation=1,0 : float32[9x4] "l" node "transpose 2"
%13 = reshape(%15) shape=36 : float32[36] "y" node "reshape 2"
output %13
)";

Graph AfterPasses(std::string_view text, const PassOptions& options, const DeviceInfo& device = {}) {
  Graph graph = Parsed(text);
  const Status status = RunPasses(graph, device, options);
  EXPECT_TRUE(status.ok()) << status.message();
  ExpectValid(graph);
  ExpectEqualResults(Parsed(text), graph);
  return graph;
}

TEST(Pipeline, PassesWorkTogetherUntilNothingChanges) {
  EXPECT_EQ(Structure(AfterPasses(kWholeNet, {})), R"(%0 = input : float32[1x6x6x2] "x"
%10 = conv_2d(%0, %16, %17) stride=2x2 padding=1,1,1,1 activation=relu : float32[1x3x3x4] "i" node "conv" operator 3
%13 = reshape(%10) shape=36 : float32[36] "y" node "reshape 2"
output %13
)");
}

TEST(Pipeline, ASecondRunChangesNothing) {
  Graph graph = AfterPasses(kWholeNet, {});
  const std::string once = ToText(graph);
  ASSERT_TRUE(RunPasses(graph, DeviceInfo(), {}).ok());
  EXPECT_EQ(ToText(graph), once);
}

// What passes see at a network's inputs and outputs.
constexpr std::string_view kEdges = R"(graph "g"
%0 = input : float32[1x16x16x2] "x"
%1 = constant : float32[2] "s" = {2, -3}
%2 = constant : float32[4x3x3x2] "w" = fill(pattern)
%3 = constant : float32[1x16x16x1] "z" = fill(0)
%4 = mul(%0, %1) : float32[1x16x16x2] "a" node "mul"
%5 = conv_2d(%4, %2) padding=same : float32[1x16x16x4] "b" node "conv"
%6 = concat(%5, %3) axis=3 : float32[1x16x16x5] "c" node "concat"
%7 = average_pool_2d(%6) kernel=16x16 : float32[1x1x1x5] "y" node "pool"
output %7
)";

// What becomes one node of several.
constexpr std::string_view kParts = R"(graph "g"
%0 = input : float32[4x6] "x"
%1 = constant : float32[] "e" = {0.001}
%9 = constant : float32[] "n" = {6}
%10 = sum(%0) axes=1 keep_dims=true : float32[4x1] "t" node "sum"
%2 = div(%10, %9) : float32[4x1] "m" node "mean"
%3 = sub(%0, %2) : float32[4x6] "d" node "sub"
%4 = square(%3) : float32[4x6] "q" node "square"
%5 = mean(%4) axes=1 keep_dims=true : float32[4x1] "v" node "variance"
%6 = add(%5, %1) : float32[4x1] "w" node "add"
%7 = rsqrt(%6) : float32[4x1] "r" node "rsqrt"
%8 = mul(%3, %7) : float32[4x6] "y" node "mul"
output %8
)";

// A list that is written in two steps.
constexpr std::string_view kList = R"(graph "g"
%0 = input : float32[1x2] "a"
%1 = input : float32[1x2] "b"
%2 = constant : float32[1x2] "rest" = {7, 8}
%3 = concat(%0, %2) axis=0 : float32[2x2] "first" node "1"
%4 = slice(%3) begin=0,0 size=1,2 strides=1,1 shape=1x2 : float32[1x2] "before" node "2"
%5 = concat(%4, %1) axis=0 : float32[2x2] "list" node "3"
%6 = tanh(%5) : float32[2x2] "y" node "4"
output %6
)";

// Heads of a product whose bias stands behind the move, and GELU written out.
constexpr std::string_view kHeads = R"(graph "g"
%0 = input : float32[1x5x6] "x"
%1 = constant : float32[8x6] "w" = fill(pattern)
%2 = constant : float32[2x4] "bias" = {1, 2, 3, 4, 5, 6, 7, 8}
%3 = fully_connected(%0, %1) keep_dims=true : float32[1x5x8] "a" node "dense"
%4 = reshape(%3) shape=1x5x2x4 : float32[1x5x2x4] "b" node "apart"
%5 = add(%4, %2) : float32[1x5x2x4] "c" node "bias"
%6 = constant : float32[1] "f" = {0.044715}
%7 = constant : float32[1] "s" = {0.7978845608}
%8 = constant : float32[1] "half" = {0.5}
%9 = constant : float32[1] "one" = {1}
%10 = square(%5) : float32[1x5x2x4] "q" node "q"
%11 = mul(%10, %5) : float32[1x5x2x4] "cube" node "cube"
%12 = mul(%11, %6) : float32[1x5x2x4] "f3" node "f3"
%13 = add(%5, %12) : float32[1x5x2x4] "sum" node "sum"
%14 = mul(%13, %7) : float32[1x5x2x4] "inner" node "inner"
%15 = tanh(%14) : float32[1x5x2x4] "t" node "t"
%16 = add(%15, %9) : float32[1x5x2x4] "p" node "p"
%17 = mul(%5, %8) : float32[1x5x2x4] "h" node "h"
%18 = mul(%17, %16) : float32[1x5x2x4] "y" node "y"
output %18
)";

// A value that is rounded to 256 steps.
constexpr std::string_view kRounded = R"(graph "g"
%0 = input : float32[2x3] "x"
%1 = constant : float32[1] "scale" = {0.03125}
%2 = constant : float32[1] "lowest" = {-100}
%3 = constant : float32[1] "highest" = {155}
%4 = div(%0, %1) : float32[2x3] "d" node "1"
%5 = round(%4) : float32[2x3] "r" node "2"
%6 = maximum(%5, %2) : float32[2x3] "l" node "3"
%7 = minimum(%6, %3) : float32[2x3] "h" node "4"
%8 = mul(%7, %1) : float32[2x3] "y" node "5"
output %8
)";

// Scores of keys as an attention layer has them.
constexpr std::string_view kTurnedKeys = R"(graph "g"
%0 = input : float32[2x3x8] "queries"
%1 = input : float32[2x5x8] "keys"
%2 = transpose(%1) permutation=0,2,1 : float32[2x8x5] "turned" node "1"
%3 = batch_matmul(%0, %2) : float32[2x3x5] "scores" node "2"
output %3
)";

// Products of 8-bit integers.
constexpr std::string_view kPower = R"(graph "g"
%0 = input : float32[2x3] "x"
%1 = constant : float32[] "two" = {2}
%2 = pow(%0, %1) : float32[2x3] "y" node "1"
output %2
)";
constexpr std::string_view kExactSums = R"(graph "g"
%0 = input : float32[2x3] "x"
%1 = constant : int8[4x3]{1/0} "w" = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}
%2, %3, %4 = dynamic_quantize(%0) : uint8[2x3] "steps", float32[] "step", uint8[] "zero" node "1"
%5 = conv_integer(%2, %1, %4) : int32[2x4] "y" node "2"
output %5
)";

TEST(Pipeline, EachPassCanBeLeftOutByNameAndIsThenMissed) {
  DeviceInfo host;
  host.backend = kHostBackend;
  for (const Pass& pass : DefaultPasses()) {
    SCOPED_TRACE(pass.name);
    const PassOptions without = {.disabled = {std::string(pass.name)}};
    const auto is_missed = [&](std::string_view net) {
      const DeviceInfo device = net == kRounded ? host : DeviceInfo();
      return Structure(AfterPasses(net, without, device)) != Structure(AfterPasses(net, {}, device));
    };
    EXPECT_TRUE(std::ranges::any_of(
        std::array{kWholeNet, kEdges, kParts, kList, kHeads, kRounded, kTurnedKeys, kExactSums, kPower}, is_missed));
  }
}

TEST(Pipeline, DisablingAnUnknownPassIsAnErrorThatListsThePasses) {
  Graph graph = Parsed(kWholeNet);
  const Status status = RunPasses(graph, DeviceInfo(), {.disabled = {"fold_paddings"}});
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_NE(status.message().find("fold_paddings"), std::string::npos);
  EXPECT_NE(status.message().find("fuse_activation"), std::string::npos);
}

class RecordingObserver : public PassObserver {
 public:
  void AfterPass(std::string_view name, Verdict verdict, const Graph& graph) override {
    names.emplace_back(name);
    changes += verdict == Verdict::kChanged ? 1 : 0;
    last_node_count = graph.nodes().size();
  }
  std::vector<std::string> names;
  int changes = 0;
  size_t last_node_count = 0;
};

TEST(Pipeline, TheObserverSeesEveryRunInOrderAndALastRoundWithoutChanges) {
  RecordingObserver observer;
  const Graph graph = AfterPasses(kWholeNet, {.observer = &observer});
  const size_t pass_count = DefaultPasses().size();
  ASSERT_EQ(observer.names.size() % pass_count, 0u);
  for (size_t i = 0; i < observer.names.size(); ++i) {
    EXPECT_EQ(observer.names[i], DefaultPasses()[i % pass_count].name);
  }
  EXPECT_GE(observer.changes, 6);
  EXPECT_EQ(observer.last_node_count, graph.nodes().size());
}

TEST(Pipeline, AnInvalidGraphIsBlamedOnThePassThatLeftIt) {
  const Pass broken{"break_it", [](Graph& graph, const DeviceInfo&) -> Result<Verdict> {
                      graph.nodes().clear();
                      return Verdict::kChanged;
                    }};
  Graph graph = Parsed(kWholeNet);
  const Status status = RunPasses(graph, DeviceInfo(), std::span(&broken, 1), {});
  EXPECT_EQ(status.code(), StatusCode::kInternal);
  EXPECT_NE(status.message().find("break_it"), std::string::npos);
}

TEST(Pipeline, PassesThatNeverSettleAreStopped) {
  const Pass restless{"restless", [](Graph&, const DeviceInfo&) -> Result<Verdict> { return Verdict::kChanged; }};
  RecordingObserver observer;
  Graph graph = Parsed(kWholeNet);
  EXPECT_TRUE(RunPasses(graph, DeviceInfo(), std::span(&restless, 1), {.observer = &observer}).ok());
  EXPECT_EQ(observer.names.size(), 32u);
}

TEST(Pipeline, AnEmptyGraphAndOneWhoseInputIsItsOutputAreLeftAlone) {
  Graph empty;
  EXPECT_TRUE(RunPasses(empty, DeviceInfo(), {}).ok());
  AfterPasses("graph \"g\"\n%0 = input : float32[2] \"x\"\noutput %0\n", {});
}

}  // namespace
}  // namespace hearth
