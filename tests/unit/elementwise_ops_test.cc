// Elementwise operations: shapes, types and hand-computed values.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "core/graph/evaluate.h"
#include "tests/testing/one_node.h"

namespace hearth {
namespace {

using ::testing::ElementsAre;
using testing::Evaluate;
using ::testing::HasSubstr;
using testing::InferredShape;
using ::testing::NanSensitiveDoubleEq;
using testing::NodeInput;
using testing::OneNode;

NodeInput Ints(const std::vector<double>& values, DType dtype = DType::kInt32) {
  return {{static_cast<int32_t>(values.size())}, values, dtype};
}
NodeInput Reals(const std::vector<double>& values) {
  return {{static_cast<int32_t>(values.size())}, values};
}

TEST(ElementwiseOps, IntegerDivisionsTruncateOrFloor) {
  const NodeInput a = Ints({7, -7, 7, -7, 6}), b = Ints({2, 2, -2, -2, 3});
  EXPECT_THAT(Evaluate(Binary{BinaryKind::kDiv}, {a, b}), ElementsAre(3, -3, -3, 3, 2));
  EXPECT_THAT(Evaluate(Binary{BinaryKind::kFloorDiv}, {a, b}), ElementsAre(3, -4, -4, 3, 2));
  EXPECT_THAT(Evaluate(Binary{BinaryKind::kFloorMod}, {a, b}), ElementsAre(1, 1, -1, -1, 0));
}

TEST(ElementwiseOps, IntegerDivisionByZeroAndTheLowestByMinusOneAreHarmless) {
  const double lowest = std::numeric_limits<int32_t>::min();
  const NodeInput a = Ints({5, lowest}), b = Ints({0, -1});
  for (BinaryKind kind : {BinaryKind::kDiv, BinaryKind::kFloorDiv}) {
    EXPECT_THAT(Evaluate(Binary{kind}, {a, b}), ElementsAre(5, lowest));
  }
  EXPECT_THAT(Evaluate(Binary{BinaryKind::kFloorMod}, {a, b}), ElementsAre(0, 0));
  const double lowest64 = -0x1p63;
  EXPECT_THAT(Evaluate(Binary{BinaryKind::kDiv}, {Ints({lowest64}, DType::kInt64), Ints({-1}, DType::kInt64)}),
              ElementsAre(lowest64));
}

TEST(ElementwiseOps, IntegerResultsWrapToTheirType) {
  const NodeInput most = Ints({2147483647}), one = Ints({1});
  EXPECT_THAT(Evaluate(Binary{BinaryKind::kAdd}, {most, one}), ElementsAre(-2147483648.0));
  EXPECT_THAT(Evaluate(Binary{BinaryKind::kMul}, {most, most}), ElementsAre(1));
  EXPECT_THAT(Evaluate(Binary{BinaryKind::kPow}, {Ints({3, -2, 0}), Ints({20, 3, 0})}),
              ElementsAre(3486784401.0 - 4294967296.0, -8, 1));
  EXPECT_THAT(Evaluate(Unary{UnaryKind::kSquare}, {Ints({65536, -3})}), ElementsAre(0, 9));
}

TEST(ElementwiseOps, NegativePowersOfIntegersAreTruncated) {
  EXPECT_THAT(Evaluate(Binary{BinaryKind::kPow}, {Ints({1, -1, -1, 2, -2, 0}), Ints({-5, -3, -4, -1, -3, -1})}),
              ElementsAre(1, -1, 1, 0, 0, 0));
}

TEST(ElementwiseOps, ShiftsStayWithinTheBitsOfTheType) {
  EXPECT_THAT(Evaluate(Binary{BinaryKind::kRightShift}, {Ints({-8, 8, 8, -8}), Ints({1, 1, -3, 40})}),
              ElementsAre(-4, 4, 8, -1));
  EXPECT_THAT(Evaluate(Binary{BinaryKind::kRightShift}, {Ints({255, 255}, DType::kUInt8), Ints({3, 9}, DType::kUInt8)}),
              ElementsAre(31, 1));
  EXPECT_THAT(Evaluate(Binary{BinaryKind::kBitwiseXor}, {Ints({12, -1}, DType::kInt8), Ints({10, 1}, DType::kInt8)}),
              ElementsAre(6, -2));
  EXPECT_THAT(InferredShape(Binary{BinaryKind::kBitwiseXor}, {Reals({1}), Reals({1})}),
              HasSubstr("plain integer type"));
}

TEST(ElementwiseOps, ComparisonsGiveBoolForEveryType) {
  for (DType dtype : {DType::kFloat32, DType::kInt32, DType::kInt64}) {
    const NodeInput a = {{3}, {1, 2, 3}, dtype}, b = {{1}, {2}, dtype};
    EXPECT_THAT(Evaluate(Binary{BinaryKind::kEqual}, {a, b}), ElementsAre(0, 1, 0));
    EXPECT_THAT(Evaluate(Binary{BinaryKind::kNotEqual}, {a, b}), ElementsAre(1, 0, 1));
    EXPECT_THAT(Evaluate(Binary{BinaryKind::kLess}, {a, b}), ElementsAre(1, 0, 0));
    EXPECT_THAT(Evaluate(Binary{BinaryKind::kLessEqual}, {a, b}), ElementsAre(1, 1, 0));
    EXPECT_THAT(Evaluate(Binary{BinaryKind::kGreater}, {a, b}), ElementsAre(0, 0, 1));
    EXPECT_THAT(Evaluate(Binary{BinaryKind::kGreaterEqual}, {a, b}), ElementsAre(0, 1, 1));
    Graph graph = OneNode(Binary{BinaryKind::kLess}, {a, b});
    ASSERT_TRUE(InferShapes(graph).ok());
    EXPECT_EQ(graph.value(graph.outputs[0]).desc.dtype, DType::kBool);
  }
}

TEST(ElementwiseOps, LogicTakesBoolOnly) {
  const NodeInput a = {{4}, {0, 0, 1, 1}, DType::kBool}, b = {{4}, {0, 1, 0, 1}, DType::kBool};
  EXPECT_THAT(Evaluate(Binary{BinaryKind::kLogicalAnd}, {a, b}), ElementsAre(0, 0, 0, 1));
  EXPECT_THAT(Evaluate(Binary{BinaryKind::kLogicalOr}, {a, b}), ElementsAre(0, 1, 1, 1));
  EXPECT_THAT(Evaluate(Unary{UnaryKind::kLogicalNot}, {b}), ElementsAre(1, 0, 1, 0));
  EXPECT_THAT(InferredShape(Unary{UnaryKind::kLogicalNot}, {Reals({1})}), HasSubstr("only bool"));
}

TEST(ElementwiseOps, RealEdgesAreThoseOfTheCpu) {
  const double inf = std::numeric_limits<double>::infinity(), nan = std::nan("");
  EXPECT_THAT(Evaluate(Binary{BinaryKind::kPow}, {Reals({-2, -2, -2, 0, 0}), Reals({3, -2, 0.5, 0, -1})}),
              ElementsAre(-8, 0.25, NanSensitiveDoubleEq(nan), 1, inf));
  EXPECT_THAT(Evaluate(Binary{BinaryKind::kDiv}, {Reals({1, -1, 0}), Reals({0, 0, 0})}),
              ElementsAre(inf, -inf, NanSensitiveDoubleEq(nan)));
  EXPECT_THAT(Evaluate(Binary{BinaryKind::kFloorMod}, {Reals({5.5, -5.5, 5.5, -5.5}), Reals({2, 2, -2, -2})}),
              ElementsAre(1.5, 0.5, -0.5, -1.5));
  EXPECT_THAT(Evaluate(Binary{BinaryKind::kAtan2}, {Reals({0, 1}), Reals({0, 0})}),
              ElementsAre(0, static_cast<float>(std::acos(0.0))));
}

TEST(ElementwiseOps, BroadcastingReachesOverLeadingDimensions) {
  // [2,1,2] - [2,1]: element (i, j, k) is a(i, k) - b(j).
  EXPECT_THAT(Evaluate(Binary{BinaryKind::kSub}, {{{2, 1, 2}, {1, 2, 3, 4}}, {{2, 1}, {10, 20}}}),
              ElementsAre(-9, -8, -19, -18, -7, -6, -17, -16));
  EXPECT_THAT(Evaluate(Binary{BinaryKind::kAdd}, {{{}, {1}}, {{}, {2}}}), ElementsAre(3));
  EXPECT_THAT(InferredShape(Binary{BinaryKind::kAdd}, {{{2, 3}, {}}, {{2}, {}}}), HasSubstr("2x3 and 2 can't be"));
}

TEST(ElementwiseOps, ActivationsOfIntegersAreClamps) {
  EXPECT_THAT(Evaluate(Binary{BinaryKind::kAdd, Activation::kRelu6}, {Ints({-5, 3, 9}), Ints({1, 1, 1})}),
              ElementsAre(0, 4, 6));
  EXPECT_THAT(InferredShape(Binary{BinaryKind::kAdd, Activation::kTanh}, {Ints({1}), Ints({1})}),
              HasSubstr("activation"));
  EXPECT_THAT(InferredShape(Binary{BinaryKind::kLess, Activation::kRelu}, {Reals({1}), Reals({1})}),
              HasSubstr("activation"));
}

TEST(ElementwiseOps, QuantizeNeedsAGridToRoundTo) {
  Graph graph = OneNode(Unary{UnaryKind::kQuantize}, {Reals({0.3, 0.76, -9})});
  TensorDesc& out = graph.value(graph.outputs[0]).desc;
  out.dtype = DType::kInt8;
  EXPECT_THAT(InferShapes(graph).message(), HasSubstr("int8 without a quantization"));
  out.quantization = Quantization{{0.5f}, {-120}, 0};
  ASSERT_TRUE(InferShapes(graph).ok());
  const Result<std::vector<ReferenceTensor>> outputs = EvaluateGraph(graph, {{ReferenceTensor{{3}, {0.3, 0.76, -9}}}});
  ASSERT_TRUE(outputs.ok());
  EXPECT_THAT(outputs->at(0).values, ElementsAre(0.5, 1.0, -4.0));
}

TEST(ElementwiseOps, AQuantizedResultNeedsAGridToo) {
  Graph graph = OneNode(Binary{BinaryKind::kAdd}, {Ints({1}, DType::kInt8), Ints({1}, DType::kInt8)});
  for (ValueId input : graph.inputs) graph.value(input).desc.quantization = Quantization{{0.5f}, {0}, 0};
  EXPECT_THAT(InferShapes(graph).message(), HasSubstr("output 'out' has no quantization"));
}

TEST(SelectOps, ChoosesWithBroadcasting) {
  const NodeInput condition = {{2, 1}, {1, 0}, DType::kBool};
  EXPECT_THAT(Evaluate(Select{}, {condition, {{2}, {1, 2}}, {{}, {9}}}), ElementsAre(1, 2, 9, 9));
  EXPECT_THAT(Evaluate(Select{}, {condition, Ints({1, 2}), {{}, {9}, DType::kInt32}}), ElementsAre(1, 2, 9, 9));
  EXPECT_THAT(InferredShape(Select{}, {Reals({1}), Reals({1}), Reals({1})}), HasSubstr("condition is float32"));
  EXPECT_THAT(InferredShape(Select{}, {condition, Reals({1}), Ints({1})}), HasSubstr("float32 and int32"));
}

TEST(SelectOps, RowsGoByDimensionZero) {
  const NodeInput condition = {{2}, {0, 1}, DType::kBool};
  EXPECT_THAT(Evaluate(SelectRows{}, {condition, {{2, 2}, {1, 2, 3, 4}}, {{2, 2}, {5, 6, 7, 8}}}),
              ElementsAre(5, 6, 3, 4));
  EXPECT_THAT(InferredShape(SelectRows{}, {condition, {{3, 2}, {}}, {{3, 2}, {}}}), HasSubstr("each row of 3x2"));
  EXPECT_THAT(InferredShape(SelectRows{}, {condition, {{2, 2}, {}}, {{2, 3}, {}}}), HasSubstr("2x2 and 2x3"));
}

TEST(PReluOps, WeighsNegativeNumbersOnly) {
  EXPECT_THAT(Evaluate(PRelu{}, {{{2, 2}, {-1, -2, 3, -4}}, {{2}, {0.5, 10}}}), ElementsAre(-0.5, -20, 3, -40));
  EXPECT_THAT(InferredShape(PRelu{}, {{{2}, {}}, {{3, 2}, {}}}), HasSubstr("alpha has shape 3x2"));
}

TEST(CastOps, TruncatesWrapsAndTests) {
  const NodeInput reals = Reals({1.9, -1.9, 300, 0});
  EXPECT_THAT(Evaluate(Cast{DType::kInt32}, {reals}), ElementsAre(1, -1, 300, 0));
  EXPECT_THAT(Evaluate(Cast{DType::kUInt8}, {reals}), ElementsAre(1, 0, 255, 0));
  EXPECT_THAT(Evaluate(Cast{DType::kBool}, {reals}), ElementsAre(1, 1, 1, 0));
  EXPECT_THAT(Evaluate(Cast{DType::kInt8}, {Ints({300, -129, 5})}), ElementsAre(44, 127, 5));
  EXPECT_THAT(Evaluate(Cast{DType::kBool}, {Ints({256, 0})}), ElementsAre(1, 0));
  EXPECT_THAT(Evaluate(Cast{DType::kFloat32}, {{{2}, {1, 0}, DType::kBool}}), ElementsAre(1, 0));
  EXPECT_THAT(InferredShape(Cast{DType::kInt4}, {reals}), HasSubstr("4-bit"));
}

TEST(AddNOps, AddsAnyNumberOfOneShape) {
  EXPECT_THAT(Evaluate(AddN{}, {Reals({1, 2}), Reals({10, 20}), Reals({100, 200})}), ElementsAre(111, 222));
  EXPECT_THAT(Evaluate(AddN{}, {Ints({2147483647}), Ints({1})}), ElementsAre(-2147483648.0));
  EXPECT_THAT(InferredShape(AddN{}, {Reals({1, 2}), Reals({1})}), HasSubstr("input 1 has shape 1"));
}

}  // namespace
}  // namespace hearth
