// Exact sums of products of 8-bit integers, and floats in steps of their range: ONNX's MatMulInteger, ConvInteger and
// DynamicQuantizeLinear.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <utility>

#include "backends/cpu/cpu_executor.h"
#include "core/graph/evaluate.h"
#include "tests/testing/one_host_node.h"
#include "tests/testing/one_node.h"
#include "tests/testing/pass_check.h"

namespace hearth {
namespace {

using ::testing::ElementsAre;
using testing::EvaluateAll;
using testing::ExpectAsReference;
using ::testing::HasSubstr;
using testing::OneHostNode;
using testing::Rewritten;
using testing::Structure;
using testing::Window;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN(), kInfinity = std::numeric_limits<float>::infinity();

void FillRandomly(std::span<std::byte> bytes) {
  std::mt19937 random(20261129);
  for (std::byte& each : bytes) each = static_cast<std::byte>(random() % 256);
}

ValueId WeightsOf(Graph& graph, const Shape& shape, DType dtype, std::vector<int64_t> zero_points) {
  std::vector<std::byte> bytes(static_cast<size_t>(shape.element_count()));
  FillRandomly(bytes);
  Quantization grid{std::vector(zero_points.size(), 1.0f), std::move(zero_points), 0, nullptr};
  return graph.AddConstantValue("weights", {dtype, shape, std::move(grid)}, std::move(bytes));
}

// Of random bytes, with each type of x and of the weights, with and without a zero point.
void ExpectExactSums(const Shape& x_shape, const Shape& weights, const Window2D& window) {
  for (const DType type : {DType::kUInt8, DType::kInt8}) {
    for (const DType weight_type : {DType::kInt8, DType::kUInt8}) {
      for (const bool has_zero : {true, false}) {
        for (const bool has_list : {false, true}) {
          std::vector<int64_t> zeros{weight_type == DType::kInt8 ? 0 : 131};
          for (int32_t c = 1; has_list && c < weights[0]; ++c) zeros.push_back(100 + c % 20);
          OneHostNode one;
          std::vector<ValueId> operands{one.Input(x_shape, type)};
          operands.push_back(WeightsOf(one.graph, weights, weight_type, zeros));
          if (has_zero) operands.push_back(one.Input({}, type));
          for (std::vector<std::byte>& input : one.inputs) FillRandomly(input);
          one.Add(ConvInteger{window}, std::move(operands), {DType::kInt32});
          ExpectAsReference(std::move(one), CpuDeviceInfo().multiplies_bytes ? "integer" : "reference");
        }
      }
    }
  }
}

TEST(IntegerSums, OfRowsAreExactOnTheHost) {
  for (const int32_t rows : {1, 4, 13, 50}) {
    for (const auto& [depth, channels] : {std::pair(1, 1), {7, 16}, {64, 17}, {130, 5}}) {
      ExpectExactSums({rows, depth}, {channels, depth}, {});
    }
  }
  ExpectExactSums({2, 3, 4, 9}, {6, 9}, {});
}

TEST(IntegerSums, OfImagesArePaddedWithTheZeroPoint) {
  const auto same = [](int stride, int dilation) { return Window(stride, dilation, PaddingMode::kSame); };
  ExpectExactSums({2, 5, 6, 8}, {4, 1, 1, 8}, {});
  ExpectExactSums({1, 9, 40, 8}, {17, 3, 3, 8}, same(1, 1));  // pieces of windows are read in place
  ExpectExactSums({1, 9, 11, 3}, {5, 3, 2, 3}, same(2, 1));
  ExpectExactSums({2, 8, 8, 12}, {6, 3, 3, 4}, same(1, 2));  // groups
  Window2D window;
  window.padding = {PaddingMode::kExplicit, 2, 1, 0, 3};
  ExpectExactSums({1, 4, 5, 6}, {3, 2, 4, 6}, window);
}

// Kernels read past the end of rows, and constants have no room there.
TEST(IntegerSums, OfConstantRowsAreTheReference) {
  OneHostNode one;
  std::vector<std::byte> bytes(4 * 33);
  FillRandomly(bytes);
  const ValueId x = one.graph.AddConstantValue("x", {DType::kUInt8, {4, 33}, std::nullopt}, std::move(bytes));
  const ValueId weights = WeightsOf(one.graph, {5, 33}, DType::kInt8, {0});
  one.Add(ConvInteger{}, {x, weights, one.Input({}, DType::kUInt8)}, {DType::kInt32});
  ExpectAsReference(std::move(one), "reference");
}

TEST(IntegerSums, BeyondInt32Wrap) {
  constexpr int32_t kDepth = 33026;  // times 255 * 255 above 2^31
  for (const int32_t rows : {1, 20}) {
    OneHostNode one;
    const ValueId x = one.Input({rows, kDepth}, DType::kUInt8);
    std::vector<std::byte> bytes(2 * kDepth, std::byte{255});
    const TensorDesc desc{DType::kUInt8, {2, kDepth}, Quantization{{1.0f}, {0}, 0, nullptr}};
    one.Add(ConvInteger{}, {x, one.graph.AddConstantValue("w", desc, std::move(bytes))}, {DType::kInt32});
    std::ranges::fill(one.inputs[0], std::byte{255});
    ASSERT_TRUE(InferShapes(one.graph).ok());
    const Result<ReferenceTensor> all = ReferenceFromBytes(one.graph.value(x).desc, one.inputs[0]);
    ASSERT_TRUE(all.ok());
    const Result<std::vector<ReferenceTensor>> sums = EvaluateGraph(one.graph, std::span(&*all, 1));
    ASSERT_TRUE(sums.ok());
    EXPECT_EQ(sums->at(0).values[0], -2147451646.0);
    ExpectAsReference(std::move(one), CpuDeviceInfo().multiplies_bytes ? "integer" : "reference");
  }
}

TEST(IntegerSums, RefusesOtherOperands) {
  const auto error = [](DType type, const Shape& x, const Shape& weights, std::vector<int64_t> zeros) {
    OneHostNode one;
    const ValueId in = one.Input(x, type);
    one.Add(ConvInteger{}, {in, WeightsOf(one.graph, weights, DType::kInt8, std::move(zeros))}, {DType::kInt32});
    return std::string(InferShapes(one.graph).message());
  };
  EXPECT_EQ(error(DType::kUInt8, {2, 3}, {4, 3}, {0}), "");
  EXPECT_THAT(error(DType::kInt32, {2, 3}, {4, 3}, {0}), HasSubstr("plain 8-bit integers"));
  EXPECT_THAT(error(DType::kUInt8, {2, 3}, {4, 5}, {0}), HasSubstr("rows of 2x3 by weights 4x5"));
  EXPECT_THAT(error(DType::kUInt8, {2, 3}, {4, 1, 1, 3}, {0}), HasSubstr("rank"));
  EXPECT_THAT(error(DType::kUInt8, {1, 2, 2, 3}, {4, 1, 1, 2}, {0}), HasSubstr("does not divide"));
}

// ---- Steps of a range ----

TEST(DynamicQuantize, GivesStepsTheirSizeAndWhichOneIsZero) {
  const std::vector<DType> types{DType::kUInt8, DType::kFloat32, DType::kUInt8};
  const auto made = EvaluateAll(DynamicQuantize{}, {{{4}, {-1.0, 0.0, 0.5, 1.55}}}, types);
  EXPECT_THAT(made[0].values, ElementsAre(0, 100, 150, 255));
  EXPECT_THAT(made[1].values, ElementsAre(2.55f / 255));
  EXPECT_THAT(made[2].values, ElementsAre(100));
  EXPECT_EQ(made[2].shape, Shape());
  const auto zeros = EvaluateAll(DynamicQuantize{}, {{{2}, {0.0, 0.0}}}, types);
  EXPECT_THAT(zeros[1].values, ElementsAre(1));
  const auto least = EvaluateAll(DynamicQuantize{}, {{{2}, {-5.32e-43, 0.0}}}, types);  // 380 of the least numbers
  EXPECT_THAT(least[0].values, ElementsAre(0, 255));
  EXPECT_THAT(least[2].values, ElementsAre(255));
}

TEST(DynamicQuantize, IsTheReferenceOnTheHost) {
  for (const int32_t count : {1, 15, 40, 100'000}) {
    for (const float special : {0.0f, -0.0f, 1e-44f, -5.32e-43f, 3e38f, -3e38f, kNan, kInfinity, -kInfinity}) {
      OneHostNode one;
      one.Add(DynamicQuantize{}, {one.Input({count})}, {DType::kUInt8, DType::kFloat32, DType::kUInt8});
      one.Set(0, count / 2, special);
      ExpectAsReference(std::move(one), CpuDeviceInfo().multiplies_bytes ? "integer" : "reference", 0.0);
    }
  }
}

// ---- The pass to_floats ----

Result<Verdict> ToFloatsOnHost(Graph& graph, const DeviceInfo& /*device*/) {
  DeviceInfo host;
  host.backend = kHostBackend;
  host.multiplies_bytes = true;
  return ToFloats(graph, host);
}

std::string RowsOf(int32_t depth, std::string_view weights) {
  return fmt::format(R"(graph "g"
%0 = input : float32[3x{0}] "x"
%1 = constant : int8[2x{0}]{{1/0}} "w" = {{{1}}}
%2, %3, %4 = dynamic_quantize(%0) : uint8[3x{0}] "steps", float32[] "step", uint8[] "zero" node "n"
%5 = conv_integer(%2, %1, %4) : int32[3x2] "sums" node "m"
output %5
output %3
)",
                     depth, weights);
}

size_t CountOf(const std::string& text, std::string_view word) {
  size_t count = 0;
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++count;
  return count;
}

TEST(ToFloats, MakesProductsOfFloatsForADevice) {
  const std::string made = Structure(Rewritten(ToFloats, RowsOf(3, "1, -2, 3, 127, -128, 6")));
  EXPECT_EQ(CountOf(made, "fully_connected"), 1u) << made;
  EXPECT_EQ(CountOf(made, "dynamic_quantize") + CountOf(made, "conv_integer"), 0u) << made;
}

// 1e-44 / 255 is 0: a step of 0 would make NaN of numbers, and any integers of these.
TEST(ToFloats, AsksWhetherTheStepIs0NotTheRange) {
  const Graph made = Rewritten(ToFloats, RowsOf(3, "1, -2, 3, 127, -128, 6"));
  const std::vector<int> producers = made.Producers();
  const auto is = [](const Node& node, BinaryKind kind) {
    const auto* binary = std::get_if<Binary>(&node.op);
    return binary != nullptr && binary->kind == kind;
  };
  const auto equal = std::ranges::find_if(made.nodes(), [&](const Node& n) { return is(n, BinaryKind::kEqual); });
  ASSERT_NE(equal, made.nodes().end());
  const int asked = producers[static_cast<size_t>(equal->inputs[0])];
  ASSERT_GE(asked, 0);
  EXPECT_TRUE(is(made.nodes()[static_cast<size_t>(asked)], BinaryKind::kDiv));
}

TEST(ToFloats, TakesSumsBeyond2To24InParts) {
  constexpr int32_t kDepth = 600;  // times 255 and 128 above 2^24
  std::string weights;
  for (int32_t k = 0; k < 2 * kDepth; ++k) weights += k == 0 ? "-128" : ", -128";
  const std::string made = Structure(Rewritten(ToFloats, RowsOf(kDepth, weights)));
  EXPECT_EQ(CountOf(made, "fully_connected"), 2u) << made;
}

TEST(ToFloats, LeavesIntegersToAHostThatMultipliesThem) {
  testing::ExpectUnchanged(ToFloatsOnHost, RowsOf(3, "1, -2, 3, 127, -128, 6"));
}

TEST(ToFloats, LeavesGroupsWithLargerSumsToTheHost) {
  Graph graph;
  const ValueId x = graph.AddValue({.name = "x", .desc = {DType::kUInt8, {1, 30, 30, 2}, std::nullopt}});
  graph.inputs = {x};
  std::vector<std::byte> ones(2 * 25 * 25, std::byte{127});
  const ValueId weights = graph.AddConstantValue(
      "w", {DType::kInt8, {2, 25, 25, 1}, Quantization{{1.0f}, {0}, 0, nullptr}}, std::move(ones));
  graph.outputs = {graph.AddValue({.name = "y", .desc = {DType::kInt32, Shape(), std::nullopt}})};
  graph.AddNode({.op = ConvInteger{}, .inputs = {x, weights}, .outputs = graph.outputs, .name = "n"});
  ASSERT_TRUE(InferShapes(graph).ok());
  const Result<Verdict> verdict = ToFloats(graph, DeviceInfo());
  ASSERT_TRUE(verdict.ok());
  EXPECT_EQ(*verdict, Verdict::kUnchanged);
  EXPECT_EQ(graph.nodes().size(), 1u);
}

}  // namespace
}  // namespace hearth
