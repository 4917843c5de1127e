// Rounding to 256 steps between layers, as ONNX's QuantizeLinear and DequantizeLinear are read.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/testing/pass_check.h"

namespace hearth {
namespace {

using testing::ExpectUnchanged;
using ::testing::HasSubstr;
using testing::Rewritten;
using testing::Structure;

Result<Verdict> OnHost(Graph& graph, const DeviceInfo& /*device*/) {
  DeviceInfo host;
  host.backend = kHostBackend;
  return ToIntegers(graph, host);
}

enum GridConstants { kInput, kScale, kLowest, kHighest, kOtherScale, kLess, kWeights, kBias, kFloatWeights, kTwice };

// A graph's text. Each function returns the value that it adds.
class Net {
 public:
  explicit Net(std::string_view input) {
    text_ = fmt::format("graph \"g\"\n%0 = input : float32[{}] \"x\"\n", input);
    text_ += R"(%1 = constant : float32[1] "scale" = {0.03125}
%2 = constant : float32[1] "lowest" = {-100}
%3 = constant : float32[1] "highest" = {155}
%4 = constant : float32[1] "other scale" = {0.2871}
%5 = constant : float32[1] "less" = {100}
%6 = constant : int8[4x1x1x2]{0.5,0.25,0.125,1/0,0,0,0} "w" = {1, -2, 3, 4, -5, 6, 7, -8}
%7 = constant : float32[4] "b" = {1, -1, 0.5, 0}
%8 = constant : float32[4x1x1x2] "float w" = {1, -2, 3, 4, -5, 6, 7, -8}
%9 = constant : float32[1] "twice" = {0.0625}
)";
  }

  int Add(std::string_view shape, std::string_view call) {
    text_ += fmt::format("%{} = {} : float32[{}] \"v{}\" node \"n\"\n", next_, call, shape, next_);
    return next_++;
  }
  // `x` rounded to steps of a scale, from a lowest to a highest one.
  int Rounded(std::string_view shape, int x, int scale = kScale, int highest = kHighest, int last_scale = -1) {
    const int divided = Add(shape, fmt::format("div(%{}, %{})", x, scale));
    const int steps = Add(shape, fmt::format("round(%{})", divided));
    const int above = Add(shape, fmt::format("maximum(%{}, %{})", steps, int{kLowest}));
    const int below = Add(shape, fmt::format("minimum(%{}, %{})", above, highest));
    return Add(shape, fmt::format("mul(%{}, %{})", below, last_scale < 0 ? scale : last_scale));
  }
  std::string With(std::initializer_list<int> outputs) const {
    std::string whole = text_;
    for (const int output : outputs) whole += fmt::format("output %{}\n", output);
    return whole;
  }

 private:
  std::string text_;
  int next_ = kTwice + 1;
};

std::string RoundedLayer(int weights, std::string_view attributes = {}) {
  Net net("1x3x3x2");
  const int x = net.Rounded("1x3x3x2", kInput);
  const int sums = net.Add("1x3x3x4", fmt::format("conv_2d(%{}, %{}, %{}){}", x, weights, int{kBias}, attributes));
  return net.With({net.Rounded("1x3x3x4", sums, kOtherScale)});
}

TEST(ToIntegers, MakesALayerOfBytes) {
  EXPECT_EQ(Structure(Rewritten(OnHost, RoundedLayer(kWeights, " activation=relu"))),
            R"(%0 = input : float32[1x3x3x2] "x"
%10 = quantize(%0) alpha=1 : uint8[1x3x3x2]{0.03125/100} "v10" node "n"
%14 = dequantize(%10) : float32[1x3x3x2] "v14" node "n"
%16 = conv_2d(%10, %6, %7) activation=relu : uint8[1x3x3x4]{0.2871/100} "v16" node "n"
%20 = dequantize(%16) : float32[1x3x3x4] "v20" node "n"
output %20
)");
}

TEST(ToIntegers, MakesSumsAndFunctionsOfBytes) {
  Net net("2x6");
  const int x = net.Rounded("2x6", kInput);
  const int curve = net.Rounded("2x6", net.Add("2x6", fmt::format("tanh(%{})", x)), kOtherScale);
  const int sum = net.Add("2x6", fmt::format("add(%{}, %{})", x, curve));
  const std::string after = Structure(Rewritten(OnHost, net.With({net.Rounded("2x6", sum, kOtherScale)})));
  EXPECT_THAT(after, HasSubstr("tanh(%10) : uint8[2x6]{0.2871/100}"));
  EXPECT_THAT(after, HasSubstr("add(%10, %16) : uint8[2x6]{0.2871/100}"));
}

TEST(ToIntegers, MovesBytes) {
  Net net("2x6");
  const int x = net.Rounded("2x6", kInput);
  const int moved = net.Add("6x2", fmt::format("transpose(%{}) permutation=1,0", x));
  const int curve = net.Add("6x2", fmt::format("exp(%{})", moved));
  const int list = net.Add("12", fmt::format("reshape(%{}) shape=12", curve));
  const std::string after = Structure(Rewritten(OnHost, net.With({net.Rounded("12", list, kOtherScale)})));
  EXPECT_THAT(after, HasSubstr("transpose(%10) permutation=1,0 : uint8[6x2]{0.03125/100}"));
  EXPECT_THAT(after, HasSubstr("reshape(%17) shape=12 : uint8[12]{0.2871/100}"));
}

TEST(ToIntegers, FindsARoundingAroundAMove) {
  Net net("2x6");
  const int divided = net.Add("2x6", "div(%0, %1)");
  const int moved = net.Add("12", fmt::format("reshape(%{}) shape=12", divided));
  const int steps = net.Add("12", fmt::format("round(%{})", moved));
  const int above = net.Add("12", fmt::format("maximum(%{}, %2)", steps));
  const int below = net.Add("12", fmt::format("minimum(%{}, %3)", above));
  const int real = net.Add("12", fmt::format("mul(%{}, %1)", below));
  EXPECT_THAT(Structure(Rewritten(OnHost, net.With({real}))), HasSubstr("reshape(%10) shape=12 : uint8[12]"));
}

// A maximum of steps, before they are scaled twice.
TEST(ToIntegers, ChoosesAmongSteps) {
  Net net("1x4x4x2");
  const int real = net.Rounded("1x4x4x2", kInput);
  const int largest = net.Add("1x2x2x2", fmt::format("max_pool_2d(%{}) kernel=2x2 stride=2x2", real - 1));
  const int once = net.Add("1x2x2x2", fmt::format("mul(%{}, %1)", largest));
  const int twice = net.Add("1x2x2x2", fmt::format("mul(%{}, %1)", largest));
  EXPECT_THAT(Structure(Rewritten(OnHost, net.With({once, twice}))), HasSubstr("stride=2x2 : uint8"));
  const int other = net.Add("1x2x2x2", fmt::format("mul(%{}, %{})", largest, int{kOtherScale}));
  ExpectUnchanged(OnHost, net.With({once, other}));
}

TEST(ToIntegers, FollowsLongChainsOfChoices) {
  Net net("1x4x4x2");
  const int steps = net.Rounded("1x4x4x2", kInput) - 1;
  const int largest = net.Add("1x4x4x2", fmt::format("max_pool_2d(%{}) kernel=3x3 padding=same", steps));
  Graph graph = testing::Parsed(net.With({net.Add("1x4x4x2", fmt::format("mul(%{}, %1)", largest))}));
  Node product = graph.nodes().back();
  graph.nodes().pop_back();
  Node pool = graph.nodes().back();
  for (int i = 0; i < 100'000; ++i) {
    pool.inputs[0] = pool.outputs[0];
    pool.outputs[0] = product.inputs[0] = graph.AddValue(graph.value(pool.inputs[0]));
    graph.AddNode(pool);
  }
  graph.AddNode(product);
  ASSERT_TRUE(OnHost(graph, DeviceInfo()).ok());
  EXPECT_EQ(graph.value(pool.outputs[0]).desc.dtype, DType::kUInt8);
}

TEST(ToIntegers, LeavesDevices) {
  ExpectUnchanged(ToIntegers, RoundedLayer(kWeights));
}

TEST(ToIntegers, LeavesOtherRangesAndStepsThatOthersSee) {
  Net fewer("2x6"), scaled("2x6"), seen("2x6");
  ExpectUnchanged(OnHost, fewer.With({fewer.Rounded("2x6", kInput, kScale, kLess)}));
  ExpectUnchanged(OnHost, scaled.With({scaled.Rounded("2x6", kInput, kScale, kHighest, kOtherScale)}));
  const int real = seen.Rounded("2x6", kInput);
  ExpectUnchanged(OnHost, seen.With({real, real - 1}));
}

TEST(ToIntegers, LeavesLayersOfFloatWeights) {
  EXPECT_THAT(Structure(Rewritten(OnHost, RoundedLayer(kFloatWeights))), HasSubstr(", %8, %7) : float32[1x3x3x4]"));
}

// One of a half and one of a whole step make half a step, which integer sums round up.
TEST(ToIntegers, LeavesSumsOfHalves) {
  Net net("2x6");
  const int x = net.Rounded("2x6", kInput);
  const int sum = net.Rounded("2x6", net.Add("2x6", fmt::format("add(%{}, %{})", x, x)), kTwice);
  Graph graph = testing::Parsed(net.With({sum}));
  ASSERT_TRUE(OnHost(graph, DeviceInfo()).ok());
  EXPECT_THAT(Structure(graph), HasSubstr("add(%14, %14) : float32[2x6]"));
}

// Their integer kernel keeps 8 bits of the ratio of the scales.
TEST(ToIntegers, LeavesLeakyRelus) {
  Net net("2x6");
  const int curve = net.Add("2x6", fmt::format("leaky_relu(%{}) alpha=0.1", net.Rounded("2x6", kInput)));
  EXPECT_THAT(Structure(Rewritten(OnHost, net.With({net.Rounded("2x6", curve, kOtherScale)}))),
              HasSubstr("alpha=0.1 : float32[2x6]"));
}

// A maximum of bytes is that of the numbers only on one grid.
TEST(ToIntegers, JoinsPoolsOfOneGridOnly) {
  for (const int scale : {kScale, kOtherScale}) {
    Net net("1x4x4x2");
    const int x = net.Rounded("1x4x4x2", kInput);
    const int largest = net.Add("1x2x2x2", fmt::format("max_pool_2d(%{}) kernel=2x2 stride=2x2", x));
    EXPECT_THAT(Structure(Rewritten(OnHost, net.With({net.Rounded("1x2x2x2", largest, scale)}))),
                HasSubstr(scale == kScale ? "stride=2x2 : uint8" : "stride=2x2 : float32"));
  }
}

}  // namespace
}  // namespace hearth
