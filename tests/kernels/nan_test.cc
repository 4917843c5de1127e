// A NaN that an operation calculates with is a NaN in what it makes, on every device: docs/results.md has the rule.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/base/error.h"
#include "core/graph/op_text.h"
#include "core/graph/ops/elementwise_table.h"
#include "runtime/devices/device_choice.h"
#include "tests/testing/on_device.h"
#include "tests/testing/one_input.h"

namespace hearth {
namespace {

using testing::OneInputGraph;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// One of the input's numbers is NaN.
OneInputGraph WithNan(const Shape& shape) {
  OneInputGraph made(shape);
  made.x[made.x.size() / 2] = kNan;
  return made;
}

// What the last node remembers, beside its output.
void AddOutputs(OneInputGraph& made, int count) {
  for (int k = 0; k < count; ++k) {
    made.graph.nodes().back().outputs.push_back(made.graph.AddValue({.name = "next"}));
  }
}

class NanStaysNan : public testing::OnDevice {
 protected:
  // NaN in the same elements as in the float64 reference, and the reference's numbers in all others.
  void ExpectAsReference(OneInputGraph& made, Precision precision = Precision::kFp32) {
    SCOPED_TRACE(OpName(made.graph.nodes().back().op) + " " + AttributesToText(made.graph.nodes().back().op) + " in " +
                 std::string(PrecisionName(precision)));
    const Result<testing::TwoAnswers> answers = AnswersOf(opened_, made, precision);
    ASSERT_TRUE(answers.ok()) << answers.status().message();
    const auto& [expected, actual] = *answers;
    ASSERT_EQ(actual.size(), expected.size());
    EXPECT_TRUE(std::ranges::any_of(expected, [](double number) { return std::isnan(number); }));
    const double tolerance = precision == Precision::kFp32 ? 1e-4 : 2e-2;
    for (size_t i = 0; i < actual.size(); ++i) {
      if (std::isnan(expected[i])) {
        EXPECT_TRUE(std::isnan(actual[i])) << "element " << i << " is " << actual[i];
      } else {
        EXPECT_NEAR(actual[i], expected[i], tolerance * std::max(1.0, std::fabs(expected[i]))) << "element " << i;
      }
    }
  }
};

constexpr Activation kActivations[] = {Activation::kNone,      Activation::kRelu, Activation::kRelu6,
                                       Activation::kReluN1To1, Activation::kTanh, Activation::kSigmoid};
const Shape kNanImage = {1, 5, 6, 7};

TEST_P(NanStaysNan, ThroughFunctionsOfOneElement) {
  for (const UnaryRow& row : UnaryRows()) {
    if (row.rule != ElementRule::kNumbers || row.function == nullptr) continue;
    OneInputGraph made = WithNan(kNanImage);
    made.Node(Unary{row.kind, 0.25f}, {made.input()});
    ExpectAsReference(made);
  }
}

TEST_P(NanStaysNan, ThroughFunctionsOfTwoElementsWhicheverOfThemItIs) {
  for (const BinaryRow& row : BinaryRows()) {
    if (row.rule != ElementRule::kNumbers || row.function == nullptr) continue;
    for (const bool is_second : {false, true}) {
      OneInputGraph made = WithNan(kNanImage);
      const ValueId other = made.Constant(kNanImage);
      made.Node(Binary{.kind = row.kind},
                is_second ? std::vector{other, made.input()} : std::vector{made.input(), other});
      ExpectAsReference(made);
    }
  }
}

TEST_P(NanStaysNan, ThroughArithmeticWithEachActivation) {
  for (const Activation activation : kActivations) {
    for (const BinaryKind kind : {BinaryKind::kAdd, BinaryKind::kSub, BinaryKind::kMul, BinaryKind::kDiv}) {
      OneInputGraph made = WithNan(kNanImage);
      made.Node(Binary{kind, activation}, {made.input(), made.Constant(kNanImage)});
      ExpectAsReference(made);
    }
  }
}

TEST_P(NanStaysNan, ThroughConvolutionsWithEachActivation) {
  for (const Activation activation : kActivations) {
    for (const int32_t size : {1, 3}) {
      OneInputGraph dense = WithNan(kNanImage);
      dense.Node(Conv2D{{.padding = {PaddingMode::kSame}}, activation},
                 {dense.input(), dense.Constant({9, size, size, 7}), dense.Constant({9})});
      ExpectAsReference(dense);
      OneInputGraph depthwise = WithNan(kNanImage);
      depthwise.Node(DepthwiseConv2D{{.padding = {PaddingMode::kSame}}, activation},
                     {depthwise.input(), depthwise.Constant({1, size, size, 7}), depthwise.Constant({7})});
      ExpectAsReference(depthwise);
    }
  }
}

TEST_P(NanStaysNan, ThroughTransposedConvolutionsWithEachActivation) {
  for (const Activation activation : kActivations) {
    for (const int32_t stride : {1, 2}) {
      OneInputGraph made = WithNan(kNanImage);
      made.Node(TransposeConv{.height = 5 * stride,
                              .width = 6 * stride,
                              .stride_h = stride,
                              .stride_w = stride,
                              .padding = {PaddingMode::kSame},
                              .activation = activation},
                {made.input(), made.Constant({9, 3, 3, 7}), made.Constant({9})});
      ExpectAsReference(made);
    }
  }
}

TEST_P(NanStaysNan, ThroughTheStepsOfALayerThatRemembersAndNotIntoOtherBatches) {
  constexpr int32_t kBatch = 3, kSteps = 4, kDepth = 5, kUnits = 6;
  const Shape state = {kBatch, kUnits}, sequence = {kBatch, kSteps, kDepth};
  for (const float clip : {0.0f, 0.4f}) {
    OneInputGraph made = WithNan(sequence);
    const ValueId h = made.Constant(state), c = made.Constant(state);
    Lstm lstm;
    lstm.activation = Activation::kTanh;
    lstm.cell_clip = clip;
    made.Node(lstm, {made.input(), h, c, made.Constant({4 * kUnits, kDepth}), made.Constant({4 * kUnits, kUnits}),
                     made.Constant({4 * kUnits})});
    AddOutputs(made, 2);
    ExpectAsReference(made);
  }
  for (const Activation activation : kActivations) {
    OneInputGraph made = WithNan(sequence);
    made.Node(Rnn{.activation = activation}, {made.input(), made.Constant(state), made.Constant({kUnits, kDepth}),
                                              made.Constant({kUnits, kUnits}), made.Constant({kUnits})});
    AddOutputs(made, 1);
    ExpectAsReference(made);
    OneInputGraph filters = WithNan({kBatch, kDepth});
    filters.Node(Svdf{.rank = 2, .activation = activation},
                 {filters.input(), filters.Constant({kBatch, kUnits * kSteps}), filters.Constant({kUnits, kDepth}),
                  filters.Constant({kUnits, kSteps}), filters.Constant({kUnits / 2})});
    AddOutputs(filters, 1);
    ExpectAsReference(filters);
  }
}

TEST_P(NanStaysNan, ThroughProductsOfMatricesWithEachActivation) {
  for (const Activation activation : kActivations) {
    OneInputGraph made = WithNan({6, 9});
    made.Node(FullyConnected{false, activation}, {made.input(), made.Constant({5, 9}), made.Constant({5})});
    ExpectAsReference(made);
  }
  OneInputGraph product = WithNan({2, 6, 9});
  product.Node(BatchMatMul{}, {product.input(), product.Constant({2, 9, 5})});
  ExpectAsReference(product);
}

TEST_P(NanStaysNan, ThroughPoolingWithEachActivation) {
  for (const Activation activation : kActivations) {
    for (const PoolKind kind : {PoolKind::kAverage, PoolKind::kMax, PoolKind::kL2}) {
      OneInputGraph made = WithNan(kNanImage);
      made.Node(Pool2D{kind, 2, 3, {}, activation}, {made.input()});
      ExpectAsReference(made);
    }
  }
}

TEST_P(NanStaysNan, ThroughReductionsOverPixelsAndOverChannels) {
  for (const ReduceKind kind :
       {ReduceKind::kMean, ReduceKind::kSum, ReduceKind::kMax, ReduceKind::kMin, ReduceKind::kProd}) {
    for (const uint32_t axes : {0b0110u, 0b1000u, 0b1110u}) {
      OneInputGraph made = WithNan(kNanImage);
      made.Node(Reduce{kind, axes}, {made.input()});
      ExpectAsReference(made);
    }
  }
}

TEST_P(NanStaysNan, ThroughNormalizations) {
  for (const Op& op : std::initializer_list<Op>{Softmax{}, LogSoftmax{}, L2Normalization{},
                                                LocalResponseNormalization{}, CumSum{.axis = 2}, CumSum{.axis = 3}}) {
    OneInputGraph made = WithNan(kNanImage);
    made.Node(op, {made.input()});
    ExpectAsReference(made);
  }
  for (const uint32_t axes : {0b1000u, 0b0110u}) {
    for (const Activation activation : kActivations) {
      OneInputGraph made = WithNan(kNanImage);
      made.Node(MeanVarianceNormalization{.axes_mask = axes, .epsilon = 1e-3f, .activation = activation},
                {made.input(), made.Constant({7}), made.Constant({7})});
      ExpectAsReference(made);
    }
  }
}

TEST_P(NanStaysNan, BehindAllNumbersOfASortedRow) {
  for (const int32_t k : {1, 3, 7}) {
    OneInputGraph made = WithNan(kNanImage);
    const size_t row = made.x.size() / 2 / 7 * 7;
    made.x[0] = made.x[5] = kNan;
    std::fill_n(made.x.begin() + 7, 7, kNan);
    made.x[row] = made.x[row + 1] = std::numeric_limits<float>::lowest();
    made.Node(TopK{k}, {made.input()});
    AddOutputs(made, 1);
    ExpectAsReference(made);
  }
}

TEST_P(NanStaysNan, ThroughSlopesSumsAndResizing) {
  OneInputGraph slopes = WithNan(kNanImage);
  slopes.Node(PRelu{}, {slopes.input(), slopes.Constant({7})});
  ExpectAsReference(slopes);
  OneInputGraph sum = WithNan(kNanImage);
  sum.Node(AddN{}, {sum.input(), sum.Constant(kNanImage), sum.Constant(kNanImage)});
  ExpectAsReference(sum);
  OneInputGraph resized = WithNan(kNanImage);
  resized.Node(Resize{.kind = ResizeKind::kBilinear, .height = 9, .width = 11}, {resized.input()});
  ExpectAsReference(resized);
}

TEST_P(NanStaysNan, ThroughElementsBehindAConvolutionThatBecomePartOfIt) {
  OneInputGraph made = WithNan(kNanImage);
  const ValueId convolved = made.Node(Conv2D{{.padding = {PaddingMode::kSame}}, Activation::kRelu6},
                                      {made.input(), made.Constant({9, 1, 1, 7}), made.Constant({9})});
  const ValueId added = made.Node(Binary{BinaryKind::kAdd, Activation::kRelu}, {convolved, made.Constant({9})});
  made.Node(Unary{UnaryKind::kTanh}, {added});
  ExpectAsReference(made);
}

TEST_P(NanStaysNan, WhereAWeightIsOne) {
  OneInputGraph made = WithNan({6, 9});
  std::vector<float> weights = made.Numbers({5, 9});
  weights[9] = kNan;
  made.Node(FullyConnected{false, Activation::kRelu},
            {made.input(), made.ConstantOf({5, 9}, weights), made.Constant({5})});
  ExpectAsReference(made);
}

TEST_P(NanStaysNan, In16BitStorage) {
  if (!opened_.info.fp16_storage) GTEST_SKIP() << opened_.id << " stores no 16-bit numbers";
  for (const Activation activation : kActivations) {
    OneInputGraph made = WithNan(kNanImage);
    made.Node(Conv2D{{.padding = {PaddingMode::kSame}}, activation},
              {made.input(), made.Constant({9, 3, 3, 7}), made.Constant({9})});
    ExpectAsReference(made, Precision::kFp16);
  }
  for (const Op& op : std::initializer_list<Op>{Softmax{}, Unary{UnaryKind::kRelu}, Unary{UnaryKind::kTanh}}) {
    OneInputGraph made = WithNan(kNanImage);
    made.Node(op, {made.input()});
    ExpectAsReference(made, Precision::kFp16);
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, NanStaysNan, ::testing::Values("cpu", "opencl", "vulkan", "gles"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace hearth
