// Reductions, searches, running sums, normalizations and look-ups: shapes and values worked out by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/graph/evaluate.h"
#include "tests/testing/one_node.h"

namespace hearth {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using testing::Evaluate;
using testing::EvaluateAll;
using ::testing::HasSubstr;
using testing::InferredShape;
using testing::NodeInput;
using testing::OneNode;

const NodeInput kTwoByThree = {{2, 3}, {1, 5, 3, -4, 2, 5}};

TEST(Reduce, EveryKindOverRowsAndColumns) {
  EXPECT_THAT(Evaluate(Reduce{ReduceKind::kSum, 2}, {kTwoByThree}), ElementsAre(9, 3));
  EXPECT_THAT(Evaluate(Reduce{ReduceKind::kMean, 2}, {kTwoByThree}), ElementsAre(3, 1));
  EXPECT_THAT(Evaluate(Reduce{ReduceKind::kMax, 1}, {kTwoByThree}), ElementsAre(1, 5, 5));
  EXPECT_THAT(Evaluate(Reduce{ReduceKind::kMin, 1}, {kTwoByThree}), ElementsAre(-4, 2, 3));
  EXPECT_THAT(Evaluate(Reduce{ReduceKind::kProd, 3}, {kTwoByThree}), ElementsAre(-600));
  const NodeInput bits = {{2, 2}, {0, 1, 1, 1}, DType::kBool};
  EXPECT_THAT(Evaluate(Reduce{ReduceKind::kAny, 2}, {bits}, DType::kBool), ElementsAre(1, 1));
  EXPECT_THAT(Evaluate(Reduce{ReduceKind::kAll, 2}, {bits}, DType::kBool), ElementsAre(0, 1));
}

TEST(Reduce, KeepsDimensionsWhenAsked) {
  EXPECT_EQ(InferredShape(Reduce{ReduceKind::kSum, 5, true}, {{{2, 3, 4}, {}}}), "1x3x1");
  EXPECT_EQ(InferredShape(Reduce{ReduceKind::kSum, 5, false}, {{{2, 3, 4}, {}}}), "3");
  EXPECT_EQ(InferredShape(Reduce{ReduceKind::kSum, 0, false}, {{{2, 3, 4}, {}}}), "2x3x4");
}

TEST(Reduce, AMeanOfIntegersIsTruncatedTowardsZero) {
  const NodeInput integers = {{2, 2}, {3, 4, -3, -4}, DType::kInt32};
  EXPECT_THAT(Evaluate(Reduce{ReduceKind::kMean, 2}, {integers}, DType::kInt32), ElementsAre(3, -3));
}

TEST(Reduce, TheSumOfAMeanOfIntegersHas64Bits) {
  const NodeInput integers = {{4}, {1764225000, 1764225010, 1764225020, 1764225030}, DType::kInt32};
  EXPECT_THAT(Evaluate(Reduce{ReduceKind::kMean, 1}, {integers}, DType::kInt32), ElementsAre(1764225015));
}

TEST(Reduce, ASumOfIntegersWraps) {
  const NodeInput integers = {{2}, {2147483647, 1}, DType::kInt32};
  EXPECT_THAT(Evaluate(Reduce{ReduceKind::kSum, 1}, {integers}, DType::kInt32), ElementsAre(-2147483648.0));
}

TEST(Reduce, RefusesTypesThatTheKindDoesNotHave) {
  EXPECT_THAT(InferredShape(Reduce{ReduceKind::kAny, 1}, {{{2}, {}}}), HasSubstr("only bool"));
  EXPECT_THAT(InferredShape(Reduce{ReduceKind::kSum, 1}, {{{2}, {}, DType::kBool}}), HasSubstr("only real numbers"));
  EXPECT_THAT(InferredShape(Reduce{ReduceKind::kSum, 8}, {{{2}, {}}}), HasSubstr("outside of rank 1"));
}

TEST(ArgReduce, FindsTheFirstExtremeElement) {
  const NodeInput ties = {{2, 3}, {1, 5, 5, -4, 2, -4}};
  EXPECT_THAT(Evaluate(ArgReduce{ArgKind::kMax, -1}, {ties}, DType::kInt32), ElementsAre(1, 1));
  EXPECT_THAT(Evaluate(ArgReduce{ArgKind::kMin, 1}, {ties}, DType::kInt64), ElementsAre(0, 0));
  EXPECT_THAT(Evaluate(ArgReduce{ArgKind::kMax, 0}, {ties}, DType::kInt32), ElementsAre(0, 0, 0));
}

TEST(ArgReduce, RefusesAxesOutsideAndPositionsThatAreNoIntegers) {
  EXPECT_THAT(InferredShape(ArgReduce{ArgKind::kMax, 2}, {kTwoByThree}, {DType::kInt32}), HasSubstr("axis 2"));
  EXPECT_THAT(InferredShape(ArgReduce{ArgKind::kMax, -testing::kHuge - 1}, {kTwoByThree}, {DType::kInt32}),
              HasSubstr("axis"));
  EXPECT_THAT(InferredShape(ArgReduce{ArgKind::kMax, 0}, {kTwoByThree}), HasSubstr("int32 or int64"));
}

TEST(TopK, TiesKeepTheLowerPosition) {
  const auto results = EvaluateAll(TopK{3}, {{{2, 4}, {1, 7, 7, 2, 0, 0, 0, 0}}}, {DType::kFloat32, DType::kInt32});
  EXPECT_THAT(results[0].values, ElementsAre(7, 7, 2, 0, 0, 0));
  EXPECT_THAT(results[1].values, ElementsAre(1, 2, 3, 0, 1, 2));
}

TEST(TopK, RefusesMoreThanThereAre) {
  for (int32_t k : {-1, 4, testing::kHuge}) {
    Graph graph = OneNode(TopK{k}, {kTwoByThree}, {DType::kFloat32, DType::kInt32});
    EXPECT_THAT(InferShapes(graph).message(), HasSubstr("the last dimension of 2x3 has 3")) << k;
  }
}

TEST(CumSum, GoesEitherWayWithOrWithoutTheElementItself) {
  const NodeInput row = {{3}, {1, 10, 100}};
  EXPECT_THAT(Evaluate(CumSum{0, false, false}, {row}), ElementsAre(1, 11, 111));
  EXPECT_THAT(Evaluate(CumSum{-1, true, false}, {row}), ElementsAre(0, 1, 11));
  EXPECT_THAT(Evaluate(CumSum{0, false, true}, {row}), ElementsAre(111, 110, 100));
  EXPECT_THAT(Evaluate(CumSum{0, true, true}, {row}), ElementsAre(110, 100, 0));
  EXPECT_THAT(Evaluate(CumSum{0}, {kTwoByThree}), ElementsAre(1, 5, 3, -3, 7, 8));
  EXPECT_THAT(InferredShape(CumSum{2}, {kTwoByThree}), HasSubstr("axis 2"));
}

TEST(LogSoftmax, IsTheLogarithmOfSoftmax) {
  const double sum = std::log(1 + std::exp(-1) + std::exp(-3));
  EXPECT_THAT(Evaluate(LogSoftmax{}, {{{3}, {2, 3, 0}}}),
              ElementsAre(DoubleNear(-1 - sum, 1e-6), DoubleNear(-sum, 1e-6), DoubleNear(-3 - sum, 1e-6)));
}

TEST(L2Normalization, DividesByTheLengthButKeepsZeros) {
  EXPECT_THAT(Evaluate(L2Normalization{}, {{{2, 2}, {3, -4, 0, 0}}}),
              ElementsAre(DoubleNear(0.6, 1e-7), DoubleNear(-0.8, 1e-7), 0, 0));
  EXPECT_THAT(Evaluate(L2Normalization{Activation::kRelu}, {{{2}, {3, -4}}}), ElementsAre(DoubleNear(0.6, 1e-7), 0));
}

TEST(MeanVarianceNormalization, BringsRowsOrColumnsToMeanZeroAndVarianceOne) {
  const NodeInput x = {{2, 2}, {1, 5, 3, 3}};
  EXPECT_THAT(Evaluate(MeanVarianceNormalization{2}, {{{2, 2}, {1, 5, 3, 7}}}), ElementsAre(-1, 1, -1, 1));
  EXPECT_THAT(Evaluate(MeanVarianceNormalization{1}, {{{2, 2}, {1, 5, 3, 7}}}), ElementsAre(-1, -1, 1, 1));
  EXPECT_THAT(Evaluate(MeanVarianceNormalization{.axes_mask = 2, .epsilon = 12.0f}, {x}), ElementsAre(-0.5, 0.5, 0, 0));
  EXPECT_THAT(Evaluate(MeanVarianceNormalization{.axes_mask = 2, .epsilon = 12.0f, .activation = Activation::kRelu},
                       {x, {{2}, {4, 6}}, {{1, 2}, {1, 1}}}),
              ElementsAre(0, 4, 1, 1));
}

TEST(MeanVarianceNormalization, TakesGroupsOfChannelsAndRootsOfMeanSquares) {
  EXPECT_THAT(Evaluate(MeanVarianceNormalization{.axes_mask = 1, .groups = 2}, {{{2, 4}, {1, 1, 6, 6, 3, 3, 6, 8}}}),
              ElementsAre(-1, -1, DoubleNear(-0.577, 1e-3), DoubleNear(-0.577, 1e-3), 1, 1, DoubleNear(-0.577, 1e-3),
                          DoubleNear(1.732, 1e-3)));
  EXPECT_THAT(Evaluate(MeanVarianceNormalization{.axes_mask = 2, .root_mean_square = true}, {{{1, 2}, {1, 7}}}),
              ElementsAre(DoubleNear(0.2, 1e-7), DoubleNear(1.4, 1e-7)));
}

TEST(MeanVarianceNormalization, RefusesAxesEpsilonsAndOperandsThatDoNotFit) {
  EXPECT_EQ(InferredShape(MeanVarianceNormalization{6}, {{{2, 3, 4}, {}}, {{4}, {}}, {{1, 1, 4}, {}}}), "2x3x4");
  EXPECT_THAT(InferredShape(MeanVarianceNormalization{0}, {kTwoByThree}), HasSubstr("at least one axis"));
  EXPECT_THAT(InferredShape(MeanVarianceNormalization{4}, {kTwoByThree}), HasSubstr("inside of rank 2"));
  EXPECT_THAT(InferredShape(MeanVarianceNormalization{.axes_mask = 2, .epsilon = -1.0f}, {kTwoByThree}),
              HasSubstr("epsilon is -1"));
  EXPECT_THAT(InferredShape(MeanVarianceNormalization{.axes_mask = 2, .epsilon = std::nanf("")}, {kTwoByThree}),
              HasSubstr("epsilon is nan"));
  EXPECT_THAT(InferredShape(MeanVarianceNormalization{1}, {kTwoByThree, {{2}, {}}}), HasSubstr("each of 3 channels"));
  EXPECT_THAT(InferredShape(MeanVarianceNormalization{1}, {kTwoByThree, {{3, 1}, {}}}),
              HasSubstr("each of 3 channels"));
  EXPECT_THAT(InferredShape(MeanVarianceNormalization{1}, {{{}, {}}}), HasSubstr("rank 0"));
  EXPECT_THAT(InferredShape(MeanVarianceNormalization{1, 2}, {kTwoByThree}), HasSubstr("2 groups: must divide"));
  EXPECT_THAT(InferredShape(MeanVarianceNormalization{1, -1}, {kTwoByThree}), HasSubstr("-1 groups: must divide"));
  EXPECT_THAT(InferredShape(MeanVarianceNormalization{2, 3}, {kTwoByThree}), HasSubstr("none of the axes"));
}

TEST(LocalResponseNormalization, TakesNeighboursOnBothSides) {
  // 1 + 2 * squares: of {1, 2}, {1, 2, 3}, {2, 3}.
  EXPECT_THAT(Evaluate(LocalResponseNormalization{1, 1.0f, 2.0f, 1.0f}, {{{3}, {1, 2, 3}}}),
              ElementsAre(DoubleNear(1.0 / 11, 1e-7), DoubleNear(2.0 / 29, 1e-7), DoubleNear(3.0 / 27, 1e-7)));
  EXPECT_THAT(Evaluate(LocalResponseNormalization{testing::kHuge, 1.0f, 2.0f, 1.0f}, {{{2}, {1, 2}}}),
              ElementsAre(DoubleNear(1.0 / 11, 1e-7), DoubleNear(2.0 / 11, 1e-7)));
  EXPECT_THAT(InferredShape(LocalResponseNormalization{-1}, {kTwoByThree}), HasSubstr("radius is -1"));
  EXPECT_THAT(InferredShape(LocalResponseNormalization{1, std::nanf("")}, {kTwoByThree}), HasSubstr("finite"));
}

TEST(Gather, TakesSlicesOfAnAxisAndBatchesTogether) {
  const NodeInput positions = {{2}, {2, 0}, DType::kInt32};
  EXPECT_THAT(Evaluate(Gather{1}, {kTwoByThree, positions}), ElementsAre(3, 1, 5, -4));
  EXPECT_THAT(Evaluate(Gather{1, 1}, {kTwoByThree, positions}), ElementsAre(3, -4));
  EXPECT_EQ(InferredShape(Gather{1, 1}, {{{2, 5, 7}, {}}, {{2, 3, 4}, {}, DType::kInt64}}), "2x3x4x7");
  EXPECT_EQ(InferredShape(Gather{-1}, {{{2, 5}, {}}, {{}, {}, DType::kInt32}}), "2");
}

TEST(Gather, PositionsOutsideMeanTheNearest) {
  EXPECT_THAT(Evaluate(Gather{1}, {kTwoByThree, {{2}, {-9, 7}, DType::kInt32}}), ElementsAre(1, 3, -4, 5));
  EXPECT_THAT(Evaluate(GatherNd{}, {kTwoByThree, {{2, 2}, {-1, 1, 5, 9}, DType::kInt32}}), ElementsAre(5, 5));
}

TEST(Gather, RefusesWhatDoesNotFit) {
  const NodeInput positions = {{2}, {}, DType::kInt32};
  EXPECT_THAT(InferredShape(Gather{2}, {kTwoByThree, positions}), HasSubstr("axis 2"));
  EXPECT_THAT(InferredShape(Gather{0, 1}, {kTwoByThree, positions}), HasSubstr("batch_dims 1"));
  EXPECT_THAT(InferredShape(Gather{1, testing::kHuge}, {kTwoByThree, positions}), HasSubstr("batch_dims"));
  EXPECT_THAT(InferredShape(Gather{1, 1}, {{{3, 3}, {}}, positions}), HasSubstr("batch dimension 0 is 3"));
  EXPECT_THAT(InferredShape(Gather{0}, {kTwoByThree, kTwoByThree}), HasSubstr("plain integers"));
}

TEST(GatherNd, TakesSlicesByPosition) {
  EXPECT_THAT(Evaluate(GatherNd{}, {kTwoByThree, {{2, 2}, {0, 1, 1, 2}, DType::kInt32}}), ElementsAre(5, 5));
  EXPECT_THAT(Evaluate(GatherNd{}, {kTwoByThree, {{1, 1}, {1}, DType::kInt32}}), ElementsAre(-4, 2, 5));
  EXPECT_THAT(InferredShape(GatherNd{}, {kTwoByThree, {{1, 3}, {}, DType::kInt32}}), HasSubstr("indices of 3"));
  EXPECT_THAT(InferredShape(GatherNd{}, {kTwoByThree, {{}, {}, DType::kInt32}}), HasSubstr("scalar"));
}

TEST(OneHot, StandsAtItsAxis) {
  const NodeInput on = {{}, {5}}, off = {{}, {-1}};
  const NodeInput indices = {{2}, {1, 7}, DType::kInt32};
  EXPECT_THAT(Evaluate(OneHot{-1, 3}, {indices, on, off}), ElementsAre(-1, 5, -1, -1, -1, -1));
  EXPECT_THAT(Evaluate(OneHot{0, 3}, {indices, on, off}), ElementsAre(-1, -1, 5, -1, -1, -1));
  EXPECT_THAT(InferredShape(OneHot{2, 3}, {indices, on, off}), HasSubstr("axis 2"));
  EXPECT_THAT(InferredShape(OneHot{0, -1}, {indices, on, off}), HasSubstr("depth -1"));
  EXPECT_THAT(InferredShape(OneHot{0, 3}, {indices, kTwoByThree, off}), HasSubstr("needs one element"));
  const NodeInput many = {{1 << 20, 1 << 20}, {}, DType::kInt32};
  EXPECT_THAT(InferredShape(OneHot{0, testing::kHuge}, {many, on, off}), HasSubstr("impossible shape"));
}

}  // namespace
}  // namespace hearth
