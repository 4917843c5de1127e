// Nodes on the host against core's float64 reference. In builds without XNNPACK the same tests run the fallback.
#include <gtest/gtest.h>

#include <limits>

#include "core/graph/ops/elementwise_table.h"
#include "tests/testing/host_graph.h"
#include "tests/testing/one_host_node.h"

namespace hearth {
namespace {

using testing::Activated;
using testing::ExpectAsReference;
using testing::ExpectReferenceResult;
using testing::GraphUnderTest;
using testing::KernelOf;
using testing::OneHostNode;
using testing::RandomFloats;

constexpr Padding2D kPaddings[] = {{PaddingMode::kValid}, {PaddingMode::kSame}, {PaddingMode::kExplicit, 1, 2, 0, 2}};
constexpr Activation kActivations[] = {Activation::kNone,      Activation::kRelu, Activation::kRelu6,
                                       Activation::kReluN1To1, Activation::kTanh, Activation::kSigmoid};

Window2D Window(int stride, int dilation, const Padding2D& padding) {
  return {stride, stride + (stride > 1 ? 1 : 0), dilation, dilation, padding};
}

TEST(CpuExecutor, ConvolutionFollowsTheReferenceForEachPaddingStrideAndDilation) {
  for (const Padding2D& padding : kPaddings) {
    for (int stride : {1, 2}) {
      for (int dilation : {1, 2}) {
        GraphUnderTest test;
        Conv2D conv;
        conv.window = Window(stride, dilation, padding);
        test.Add(conv, {test.Input({2, 10, 9, 5}), test.Constant({7, 3, 3, 5}), test.Constant({7})});
        ExpectReferenceResult(test);
      }
    }
  }
}

TEST(CpuExecutor, ConvolutionFollowsTheReferenceForEachActivation) {
  for (Activation activation : kActivations) {
    GraphUnderTest test;
    test.Add(Activated<Conv2D>(activation),
             {test.Input({1, 5, 5, 3}), test.Constant({6, 1, 1, 3}), test.Constant({6})});
    ExpectReferenceResult(test);
  }
}

TEST(CpuExecutor, FunctionsOfElementsFollowTheReference) {
  for (const UnaryRow& row : UnaryRows()) {
    if (row.rule != ElementRule::kNumbers || row.text.empty()) continue;
    GraphUnderTest test;
    const ValueId x = test.Input({1, 7, 5, 3});
    const bool needs_positive =
        row.kind == UnaryKind::kLog || row.kind == UnaryKind::kRsqrt || row.kind == UnaryKind::kSqrt;
    test.Add(Unary{row.kind, 0.3f}, {needs_positive ? test.Add(Unary{UnaryKind::kSquare}, {x}) : x});
    ExpectReferenceResult(test);
  }
}

TEST(CpuExecutor, ConvolutionTakesGroupsAnAbsentBiasAndWeightsThatAreComputed) {
  GraphUnderTest grouped;
  grouped.Add(Conv2D{}, {grouped.Input({1, 6, 6, 8}), grouped.Constant({6, 3, 3, 4}), kNoValue});
  ExpectReferenceResult(grouped);
  GraphUnderTest computed;
  computed.Add(Conv2D{}, {computed.Input({1, 6, 6, 2}), computed.Input({3, 3, 3, 2})});
  ExpectReferenceResult(computed);
}

TEST(CpuExecutor, DepthwiseConvolutionFollowsTheReferenceForEachMultiplier) {
  for (const Padding2D& padding : kPaddings) {
    for (int multiplier : {1, 3}) {
      GraphUnderTest test;
      DepthwiseConv2D conv;
      conv.window = Window(multiplier, multiplier == 1 ? 2 : 1, padding);
      conv.activation = Activation::kRelu6;
      test.Add(conv,
               {test.Input({2, 10, 9, 5}), test.Constant({1, 3, 3, 5 * multiplier}), test.Constant({5 * multiplier})});
      ExpectReferenceResult(test);
    }
  }
}

// Widths in which eight, four, two neighbours and one go together; channels that fill vectors and that don't.
TEST(CpuExecutor, DepthwiseConvolutionsOfAllWidthsAndChannelsFollowTheReference) {
  for (const int channels : {1, 8, 23, 32, 256}) {
    for (const int width : {3, 9, 17}) {
      for (const int stride : {1, 2}) {
        GraphUnderTest test;
        DepthwiseConv2D conv;
        conv.window = Window(stride, 1, {PaddingMode::kSame});
        test.Add(conv,
                 {test.Input({2, 6, width, channels}), test.Constant({1, 3, 5, channels}), test.Constant({channels})});
        ExpectReferenceResult(test);
      }
    }
  }
}

TEST(CpuExecutor, DepthwiseConvolutionOfOneChannelFollowsTheReference) {
  GraphUnderTest test;
  test.Add(DepthwiseConv2D{}, {test.Input({1, 7, 7, 1}), test.Constant({1, 3, 3, 4}), test.Constant({4})});
  ExpectReferenceResult(test);
}

TEST(CpuExecutor, PoolsDoNotCountPaddedElements) {
  for (PoolKind kind : {PoolKind::kAverage, PoolKind::kMax}) {
    for (const Padding2D& padding : kPaddings) {
      for (int stride : {1, 2}) {
        GraphUnderTest test;
        Pool2D pool{.kind = kind, .kernel_h = 3, .kernel_w = 4};
        pool.window = Window(stride, 1, padding);
        pool.activation = Activation::kRelu;
        test.Add(pool, {test.Input({2, 9, 8, 5})});
        ExpectReferenceResult(test);
      }
    }
  }
}

TEST(CpuExecutor, PoolsWithOneElementOrWithGapsFollowTheReference) {
  for (PoolKind kind : {PoolKind::kAverage, PoolKind::kMax}) {
    for (int kernel : {1, 2}) {
      GraphUnderTest test;
      Pool2D pool{.kind = kind, .kernel_h = kernel, .kernel_w = kernel};
      pool.window = {3, 3, 1, 1, {PaddingMode::kValid}};
      test.Add(pool, {test.Input({1, 8, 8, 3})});
      ExpectReferenceResult(test);
    }
  }
}

TEST(CpuExecutor, FullyConnectedFollowsTheReferenceWithAndWithoutItsDimensions) {
  for (bool keep_dims : {false, true}) {
    for (Activation activation : {Activation::kNone, Activation::kRelu, Activation::kTanh}) {
      GraphUnderTest test;
      FullyConnected op = Activated<FullyConnected>(activation);
      op.keep_dims = keep_dims;
      test.Add(op, {test.Input({2, 3, 33}), test.Constant({17, 33}), test.Constant({17})});
      ExpectReferenceResult(test);
    }
  }
}

TEST(CpuExecutor, NormalizationFollowsTheReferenceForEachKindAndOperand) {
  for (Activation activation : kActivations) {
    for (MeanVarianceNormalization op : {MeanVarianceNormalization{.axes_mask = 8},
                                         {.axes_mask = 6},
                                         {.axes_mask = 2},
                                         {.axes_mask = 6, .groups = 2},
                                         {.axes_mask = 8, .root_mean_square = true}}) {
      op.epsilon = 0.01f;
      op.activation = activation;
      GraphUnderTest bare, with_constants, with_inputs;
      bare.Add(op, {bare.Input({2, 3, 5, 16})});
      ExpectReferenceResult(bare);
      with_constants.Add(
          op, {with_constants.Input({2, 3, 5, 16}), with_constants.Constant({16}), with_constants.Constant({1, 16})});
      ExpectReferenceResult(with_constants);
      with_inputs.Add(op, {with_inputs.Input({2, 3, 5, 16}), kNoValue, with_inputs.Input({16})});
      ExpectReferenceResult(with_inputs);
    }
  }
}

TEST(CpuExecutor, BinaryOperationsBroadcastLikeTheReference) {
  for (BinaryKind kind : {BinaryKind::kAdd, BinaryKind::kSub, BinaryKind::kMul, BinaryKind::kMaximum,
                          BinaryKind::kMinimum, BinaryKind::kSquaredDifference, BinaryKind::kFloorDiv}) {
    for (const Shape& other : {Shape{2, 3, 4, 5}, Shape{5}, Shape{3, 1, 5}, Shape{2, 1, 1, 1}, Shape{}}) {
      GraphUnderTest with_input, with_constant;
      with_input.Add(Binary{kind}, {with_input.Input({2, 3, 4, 5}), with_input.Input(other)});
      ExpectReferenceResult(with_input);
      with_constant.Add(Binary{kind, Activation::kRelu6},
                        {with_constant.Constant(other), with_constant.Input({2, 3, 4, 5})});
      ExpectReferenceResult(with_constant);
    }
  }
}

TEST(CpuExecutor, UnaryOperationsFollowTheReference) {
  for (int kind = 0; kind <= static_cast<int>(UnaryKind::kCopy); ++kind) {
    const Unary op{static_cast<UnaryKind>(kind), 0.25f};
    if (RowOf(op.kind).rule != ElementRule::kNumbers || RowOf(op.kind).text.empty()) continue;  // not for real numbers
    const bool of_positives = op.kind == UnaryKind::kLog || op.kind == UnaryKind::kSqrt || op.kind == UnaryKind::kRsqrt;
    GraphUnderTest test;
    ValueId in = test.Input({3, 37});
    if (of_positives) in = test.Add(Unary{UnaryKind::kExp}, {in});
    test.Add(op, {in});
    ExpectReferenceResult(test);
  }
}

TEST(CpuExecutor, TransposedConvolutionPReluAndDepthToSpaceFollowTheReference) {
  for (const int size : {13, 14}) {
    GraphUnderTest test;
    const ValueId prelu = test.Add(PRelu{}, {test.Input({2, 6, 6, 4}), test.Constant({1, 1, 4})});
    const TransposeConv conv{size, size, 2, 2, {}, Activation::kRelu6};
    const ValueId larger = test.Add(conv, {prelu, test.Constant({8, 3, 3, 4}), test.Constant({8})});
    test.Add(DepthToSpace{2}, {larger});
    ExpectReferenceResult(test);
  }
  GraphUnderTest same;
  same.Add(TransposeConv{12, 11, 2, 2, {PaddingMode::kSame}}, {same.Input({1, 6, 6, 4}), same.Constant({5, 3, 3, 4})});
  ExpectReferenceResult(same);
}

TEST(CpuExecutor, TransposedConvolutionToASmallerImageThanItsStridesFollowsTheReference) {
  for (const Shape& in : {Shape{2, 7, 1, 1}, Shape{1, 1, 1, 3}}) {
    for (int32_t stride : {2, 3, 5}) {
      GraphUnderTest test;
      const TransposeConv conv{in[1] * stride, 1, stride, stride, {PaddingMode::kSame}, Activation::kRelu};
      test.Add(conv, {test.Input(in), test.Constant({6, 3, 4, in[3]}), test.Constant({6})});
      ExpectReferenceResult(test);
    }
  }
}

TEST(CpuExecutor, InfiniteWeightsOnPaddingFollowTheReference) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  OneHostNode one;
  const ValueId x = one.Input({1, 4, 4, 2});
  std::vector<float> weights = RandomFloats(3 * 3 * 2, 1);
  weights[0] = weights[8] = kInfinity;  // the first tap and the middle one
  const ValueId filter = one.graph.AddFloatConstant("filter", {1, 3, 3, 2}, weights);
  one.Add(DepthwiseConv2D{{.padding = {PaddingMode::kSame}}}, {x, filter});
  const std::string kernel = KernelOf(one);
  ExpectAsReference(std::move(one), kernel);
}

TEST(CpuExecutor, ConcatenationFollowsTheReferenceOnEachAxis) {
  for (int axis : {0, 1, 2, -1}) {
    for (Activation activation : {Activation::kNone, Activation::kRelu}) {
      GraphUnderTest test;
      Shape first{2, 3, 4}, second{2, 3, 4};
      second[axis < 0 ? axis + 3 : axis] = 5;
      Concat op = Activated<Concat>(activation);
      op.axis = axis;
      test.Add(op, {test.Input(first), test.Constant(second), test.Input(first)});
      ExpectReferenceResult(test);
    }
  }
}

TEST(CpuExecutor, ResizeFollowsTheReferenceInItsThreeVariants) {
  for (ResizeKind kind : {ResizeKind::kBilinear, ResizeKind::kNearest}) {
    for (const auto& [align_corners, half_pixel] :
         {std::pair(false, false), std::pair(true, false), std::pair(false, true)}) {
      for (int size : {3, 13, 1}) {
        GraphUnderTest test;
        test.Add(Resize{kind, size, size + 1, align_corners, half_pixel}, {test.Input({2, 6, 5, 3})});
        ExpectReferenceResult(test);
      }
    }
  }
}

TEST(CpuExecutor, SoftmaxFollowsTheReferenceForAnyBeta) {
  for (float beta : {1.0f, 0.5f}) {
    GraphUnderTest test;
    test.Add(Softmax{beta}, {test.Input({2, 3, 101})});
    ExpectReferenceResult(test);
  }
}

TEST(CpuExecutor, ReshapeMeanAndPadFollowTheReference) {
  GraphUnderTest test;
  const ValueId padded = test.Add(Pad{{0, 1, 0, 2}, {0, 2, 1, 0}, 0.5f}, {test.Input({2, 4, 5, 3})});
  const ValueId mean = test.Add(Reduce{ReduceKind::kMean, 0b0110, true}, {padded});
  const ValueId flat = test.Add(Reshape{{5, 2}}, {mean});
  test.Add(Reduce{ReduceKind::kMean, 0b10, false}, {flat});
  ExpectReferenceResult(test);
}
}  // namespace
}  // namespace hearth
