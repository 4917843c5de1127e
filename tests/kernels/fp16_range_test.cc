// Numbers that are finite in float32 stay finite where real numbers are stored
// in 16 bits.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "tests/testing/on_device.h"
#include "tests/testing/one_input.h"

namespace hearth {
namespace {

using testing::OneInputGraph;

const Shape kRowsShape = {1, 2, 5, 12};

// With shorthands.
struct RangeGraph : OneInputGraph {
  using OneInputGraph::OneInputGraph;

  ValueId Number(float number) { return ConstantOf({1}, {&number, 1}); }
  ValueId Of(UnaryKind kind, ValueId x) { return Node(Unary{kind}, {x}); }
  ValueId Of(BinaryKind kind, ValueId a, ValueId b) { return Node(Binary{kind}, {a, b}); }
  ValueId IsGreater(ValueId a, ValueId b) { return Node(Binary{BinaryKind::kGreater}, {a, b}, DType::kBool); }
  ValueId OverChannels(ReduceKind kind, ValueId x) { return Node(Reduce{kind, 0b1000, true}, {x}); }
};

class Fp16Range : public testing::Fp16Device {
 protected:
  // The float64 reference has only finite numbers, and so has the device: near to them, unless 16 bits can't hold them.
  void ExpectFinite(RangeGraph& made, bool is_near = true) {
    for (const Precision precision : {Precision::kFp16, Precision::kFp32_16}) {
      SCOPED_TRACE(PrecisionName(precision));
      const Result<testing::TwoAnswers> answers = AnswersOf(opened_, made, precision);
      ASSERT_TRUE(answers.ok()) << answers.status().message();
      const auto& [expected, actual] = *answers;
      ASSERT_EQ(actual.size(), expected.size());
      double largest = 1.0;
      for (double number : expected) largest = std::max(largest, std::fabs(number));
      for (size_t i = 0; i < actual.size(); ++i) {
        ASSERT_TRUE(std::isfinite(expected[i])) << "element " << i << " of the reference is " << expected[i];
        ASSERT_TRUE(std::isfinite(actual[i])) << "element " << i << " is " << actual[i] << ", not " << expected[i];
        if (!is_near) continue;
        ASSERT_NEAR(actual[i], expected[i], 2e-2 * largest) << "element " << i;
      }
    }
  }
};

TEST_P(Fp16Range, MasksThatAreAddedTwiceLeaveASoftmaxWrittenOutFinite) {
  for (const float mask : {-1e9f, -65504.0f, -1e38f}) {
    RangeGraph made(kRowsShape, {-40, 40});
    const ValueId once = made.Of(BinaryKind::kAdd, made.input(), made.Number(mask));
    const ValueId masked = made.Of(BinaryKind::kAdd, once, made.Number(mask / 2));
    const ValueId below = made.Of(BinaryKind::kSub, masked, made.OverChannels(ReduceKind::kMax, masked));
    const ValueId powers = made.Of(UnaryKind::kExp, below);
    made.Of(BinaryKind::kDiv, powers, made.OverChannels(ReduceKind::kSum, powers));
    ExpectFinite(made, false);
  }
}

TEST_P(Fp16Range, MasksThatAreChosenLeaveTheOthersOfARowAsTheyAre) {
  for (const float mask : {-1e9f, -3.4e38f, -INFINITY}) {
    RangeGraph made(kRowsShape, {-4, 4});
    std::vector<float> kept(12, 1.0f);
    kept[3] = kept[4] = kept[11] = 0.0f;
    const ValueId is_kept = made.IsGreater(made.ConstantOf({12}, kept), made.Number(0.5f));
    made.Node(Softmax{}, {made.Node(Select{}, {is_kept, made.input(), made.Number(mask)})});
    ExpectFinite(made);
  }
}

TEST_P(Fp16Range, AWhollyMaskedRowOfChosenMasksIsEven) {
  RangeGraph made(kRowsShape, {-4, 4});
  const ValueId is_kept = made.IsGreater(made.input(), made.Number(100.0f));
  made.Node(Softmax{}, {made.Node(Select{}, {is_kept, made.input(), made.Number(-1e9f)})});
  ExpectFinite(made);
}

TEST_P(Fp16Range, ExponentialsAndSquaresThatOverflowAreTheLargestNumber) {
  RangeGraph powers(kRowsShape, {9, 14});
  powers.Of(UnaryKind::kLog, powers.OverChannels(ReduceKind::kSum, powers.Of(UnaryKind::kExp, powers.input())));
  ExpectFinite(powers, false);
  RangeGraph difference(kRowsShape, {300, 900});
  const ValueId squares = difference.Of(UnaryKind::kSquare, difference.input());
  difference.Of(BinaryKind::kSub, squares, difference.OverChannels(ReduceKind::kMax, squares));
  ExpectFinite(difference, false);
}

TEST_P(Fp16Range, NormalizationsOfLargeNumbersAreRight) {
  for (const Op& op : std::initializer_list<Op>{
           MeanVarianceNormalization{.axes_mask = 0b1000, .epsilon = 1e-6f},
           MeanVarianceNormalization{.axes_mask = 0b0110, .epsilon = 1e-6f},
           MeanVarianceNormalization{.axes_mask = 0b1000, .root_mean_square = true, .epsilon = 1e-6f},
           L2Normalization{}, LocalResponseNormalization{}, Softmax{}, LogSoftmax{}}) {
    RangeGraph made(kRowsShape, {-20000, 20000});
    made.Node(op, {made.input()});
    ExpectFinite(made);
  }
}

TEST_P(Fp16Range, AVarianceWrittenOutIsThatOfLargeNumbers) {
  RangeGraph made(kRowsShape, {-4000, 4000});
  const ValueId mean = made.OverChannels(ReduceKind::kMean, made.input());
  const ValueId squares = made.Of(BinaryKind::kSquaredDifference, made.input(), mean);
  const ValueId variance = made.OverChannels(ReduceKind::kMean, squares);
  const ValueId root = made.Of(UnaryKind::kRsqrt, made.Of(BinaryKind::kAdd, variance, made.Number(1e-3f)));
  made.Of(BinaryKind::kMul, made.Of(BinaryKind::kSub, made.input(), mean), root);
  ExpectFinite(made);
}

TEST_P(Fp16Range, ScoresWhoseScaleFollowsThemAreRight) {
  for (const BinaryKind kind : {BinaryKind::kMul, BinaryKind::kDiv}) {
    RangeGraph made({1, 2, 8, 64}, {75, 150});
    const ValueId keys = made.Of(BinaryKind::kMul, made.input(), made.Constant({64}, {0.8f, 1.2f}));
    const ValueId scores = made.Node(BatchMatMul{.adjoint_b = true}, {made.input(), keys});
    const float scale = kind == BinaryKind::kMul ? 1e-4f : 1e4f;
    made.Node(Softmax{}, {made.Of(kind, scores, made.Number(scale))});
    ExpectFinite(made);
  }
}

// Of a layer whose results nobody expects to be so large.
TEST_P(Fp16Range, WhatStaysInsideAKernelIsNotClamped) {
  if (std::string_view(GetParam()) == "opencl")
    GTEST_SKIP() << "PoCL runs a convolution and its function as two kernels";
  RangeGraph made({1, 4, 4, 64}, {50, 150});
  made.Of(UnaryKind::kSqrt, made.Node(Conv2D{}, {made.input(), made.Constant({8, 1, 1, 64}, {50, 150})}));
  ExpectFinite(made);
}

// As converters write them, over the channels or, from a PyTorch model, over dimension 1.
TEST_P(Fp16Range, NormalizationsWrittenOutAreThoseOfLargeNumbers) {
  for (const uint32_t axes : {0b1000u, 0b0010u}) {
    const auto mean = [&](RangeGraph& made, ValueId x) {
      return made.Node(Reduce{ReduceKind::kMean, axes, true}, {x});
    };
    const auto centered = [&](RangeGraph& made) {
      return made.Of(BinaryKind::kSub, made.input(), mean(made, made.input()));
    };
    const auto variance = [&](RangeGraph& made, ValueId x) { return mean(made, made.Of(UnaryKind::kSquare, x)); };
    for (const float epsilon : {0.0f, 1e-5f}) {
      RangeGraph deviation(kRowsShape, {-4000, 4000});
      const ValueId x = centered(deviation);
      ValueId root = deviation.Of(UnaryKind::kSqrt, variance(deviation, x));
      if (epsilon > 0) root = deviation.Of(BinaryKind::kAdd, root, deviation.Number(epsilon));
      deviation.Of(BinaryKind::kDiv, x, root);
      ExpectFinite(deviation);
    }
    RangeGraph power(kRowsShape, {-4000, 4000});
    const ValueId with_epsilon = power.Of(BinaryKind::kAdd, variance(power, power.input()), power.Number(1e-5f));
    power.Of(BinaryKind::kMul, power.input(), power.Of(BinaryKind::kPow, with_epsilon, power.Number(-0.5f)));
    ExpectFinite(power);
    RangeGraph length(kRowsShape, {-4000, 4000});
    const ValueId squares = length.Of(UnaryKind::kSquare, length.input());
    const ValueId root = length.Of(UnaryKind::kSqrt, length.Node(Reduce{ReduceKind::kSum, axes, true}, {squares}));
    length.Of(BinaryKind::kDiv, length.input(), length.Of(BinaryKind::kMaximum, root, length.Number(1e-12f)));
    ExpectFinite(length);
  }
}

// Boxes and points of a picture.
TEST_P(Fp16Range, AreasAndDistancesInPixelsAreRight) {
  RangeGraph areas({1, 1, 16, 8}, {200, 1000});
  const ValueId sides = areas.Of(BinaryKind::kMul, areas.input(), areas.Constant({1, 1, 16, 8}, {200, 1000}));
  const ValueId all = areas.OverChannels(ReduceKind::kSum, sides);
  areas.Of(BinaryKind::kDiv, sides, all);
  ExpectFinite(areas);
  RangeGraph distance({1, 1, 16, 2}, {-1000, 1000});
  const ValueId squares = distance.Of(BinaryKind::kMul, distance.input(), distance.input());
  const ValueId root = distance.Of(UnaryKind::kSqrt, distance.OverChannels(ReduceKind::kSum, squares));
  distance.Of(BinaryKind::kMul, root, distance.Number(1e-3f));
  ExpectFinite(distance);
}

// What lies below the smallest half would be 0, and its root's inverse
// infinite.
TEST_P(Fp16Range, SmallNumbersAgainstDivisionsByZeroStay) {
  for (const float epsilon : {1e-12f, 1e-8f, 1e-7f}) {
    RangeGraph made(kRowsShape, {0, 0});
    const ValueId squares = made.Of(UnaryKind::kSquare, made.input());
    const ValueId sum = made.OverChannels(ReduceKind::kSum, squares);
    const ValueId length = made.Of(UnaryKind::kRsqrt, made.Of(BinaryKind::kMaximum, sum, made.Number(epsilon)));
    made.Of(BinaryKind::kMul, made.input(), length);
    ExpectFinite(made);
    RangeGraph share(kRowsShape, {0, 0});
    const ValueId all = share.OverChannels(ReduceKind::kSum, share.input());
    share.Of(BinaryKind::kDiv, share.input(), share.Of(BinaryKind::kAdd, all, share.Number(epsilon)));
    ExpectFinite(share);
  }
}

TEST_P(Fp16Range, NormalizationsOfEqualNumbersAreZero) {
  for (const uint32_t axes : {0b1000u, 0b0110u}) {
    RangeGraph made(kRowsShape, {3, 3});
    made.Node(MeanVarianceNormalization{.axes_mask = axes, .epsilon = 1e-12f}, {made.input()});
    ExpectFinite(made);
  }
}

TEST_P(Fp16Range, MeansAndPoolsOfManyLargeNumbersAreRight) {
  const Shape image = {1, 64, 64, 5};
  for (const uint32_t axes : {0b0110u, 0b1110u}) {
    RangeGraph mean(image, {500, 1500});
    mean.Node(Reduce{ReduceKind::kMean, axes}, {mean.input()});
    ExpectFinite(mean);
  }
  for (const PoolKind kind : {PoolKind::kAverage, PoolKind::kL2, PoolKind::kMax}) {
    RangeGraph pool(image, {500, 1500});
    pool.Node(Pool2D{.kind = kind, .kernel_h = 64, .kernel_w = 64}, {pool.input()});
    ExpectFinite(pool);
  }
}

TEST_P(Fp16Range, SumsThatOverflowAreTheLargestNumber) {
  RangeGraph made({1, 64, 64, 5}, {500, 1500});
  const ValueId sum = made.Node(Reduce{ReduceKind::kSum, 0b0110, true}, {made.input()});
  made.Of(BinaryKind::kSub, sum, sum);
  ExpectFinite(made, false);
}

TEST_P(Fp16Range, ConvolutionsOfLargeNumbersAreRight) {
  RangeGraph made({1, 16, 16, 32}, {-3000, 3000});
  const Shape filter = {32, 3, 3, 32};
  made.Node(Conv2D{{.padding = {PaddingMode::kSame}}}, {made.input(), made.Constant(filter, {-0.05f, 0.05f})});
  ExpectFinite(made);
}

INSTANTIATE_TEST_SUITE_P(Devices, Fp16Range, ::testing::Values("opencl", "vulkan", "gles"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace hearth
