// Operators that the reader makes of several nodes: numbers, sequences, volumes, spectra, boxes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/testing/builtin_codes.h"
#include "tests/testing/one_expansion.h"

namespace hearth {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pointwise;

::testing::Matcher<const std::vector<double>&> Near(const std::vector<double>& numbers) {
  return Pointwise(DoubleNear(1e-5), numbers);
}

TEST(TfliteExpansion, FakeQuantRoundsToStepsOfARangeThatHoldsZero) {
  OneExpansion model({4});
  const auto options = wire::CreateFakeQuantOptions(model.writer.builder(), 0.0f, 3.0f, 2, false);  // steps of 1
  EXPECT_THAT(model.Answer(80, {model.x}, {4}, options, {-1, 0.6, 2.4, 9}), ElementsAre(0, 1, 2, 3));
}

TEST(TfliteExpansion, ANarrowFakeQuantLeavesOutTheLowestStep) {
  OneExpansion model({3});
  const auto options = wire::CreateFakeQuantOptions(model.writer.builder(), -1.0f, 1.0f, 2, true);  // -1, 0, 1
  EXPECT_THAT(model.Answer(80, {model.x}, {3}, options, {-0.8, 0.2, 5}), ElementsAre(-1, 0, 1));
}

TEST(TfliteExpansion, FakeQuantOfAnEmptyRangeIsDamage) {
  OneExpansion model({3});
  const auto options = wire::CreateFakeQuantOptions(model.writer.builder(), 2.0f, 2.0f, 8, false);
  EXPECT_EQ(model.Read(80, {model.x}, {3}, options).status().code(), StatusCode::kMalformedInput);
}

TEST(TfliteExpansion, BucketizeCountsBoundariesThatAreReached) {
  OneExpansion model({4});
  const std::vector<float> boundaries = {0, 1, 2.5};
  const auto options =
      wire::CreateBucketizeOptions(model.writer.builder(), model.writer.builder().CreateVector(boundaries));
  EXPECT_THAT(model.Answer(147, {model.x}, {4}, options, {-1, 1, 2, 3}, kInt), ElementsAre(0, 2, 2, 3));
}

TEST(TfliteExpansion, ReverseSequenceTurnsTheFirstElementsOfEachBatch) {
  OneExpansion model({2, 3});
  const auto options = wire::CreateReverseSequenceOptions(model.writer.builder(), 1, 0);
  EXPECT_THAT(model.Answer(112, {model.x, model.Numbers({2}, {2, 3})}, {2, 3}, options), ElementsAre(2, 1, 3, 6, 5, 4));
}

// Damaged files name another type for a complex tensor than the operator that makes it.
TEST(TfliteExpansion, ComplexNumbersAreRefusedWhereARealTensorIsRead) {
  constexpr int32_t kRfft2D = 131, kUnknown = 2183;
  for (const int32_t code : {kUnknown, kAdd, kReshape}) {
    OneExpansion model({3, 1, 16});
    const int32_t spectrum = model.writer.AddTensor({"spectrum", {3, 1, 9}});
    model.writer.AddOperator(kRfft2D, {model.x, model.Numbers({2}, {1, 16})}, {spectrum});
    // RESHAPE moves it to the model's output.
    const int32_t other = code == kReshape ? model.Numbers({2}, {3, 9}) : spectrum;
    EXPECT_THAT(RefusalOf(model.Read(code, {spectrum, other}, {3, 1, 9})), HasSubstr("complex numbers")) << code;
  }
}

TEST(TfliteExpansion, ComplexNumbersAreRefusedWhereSeveralNodesWouldReadThem) {
  constexpr int32_t kRfft2D = 131, kMatrixDiag = 113, kBitcast = 159;
  for (const int32_t code : {kMatrixDiag, kBitcast}) {
    OneExpansion model({3, 1, 16});
    const int32_t spectrum = model.writer.AddTensor({"spectrum", {3, 1, 9}});
    model.writer.AddOperator(kRfft2D, {model.x, model.Numbers({2}, {1, 16})}, {spectrum});
    EXPECT_THAT(RefusalOf(model.Read(code, {spectrum}, {3, 1, 9})), HasSubstr("complex numbers")) << code;
  }
}

TEST(TfliteExpansion, SparseToDenseKeepsTheLastValueOfAPlace) {
  OneExpansion model({3});
  const int32_t places = model.Numbers({3}, {1, 3, 1}), shape = model.Numbers({1}, {5});
  const int32_t number = model.writer.AddConstant<float>({"", {}}, {-1});
  EXPECT_THAT(model.Answer(68, {places, shape, model.x, number}, {5}), ElementsAre(-1, 3, -1, 2, -1));
}

TEST(TfliteExpansion, AMeanOfRowsIsDividedByTheirWeightsAndZeroWhereNoneIsListed) {
  OneExpansion model({3, 2});  // the table: 1 2, 3 4, 5 6
  const int32_t ids = model.Numbers({3}, {0, 2, 1}), shape = model.Numbers({2}, {3, 2});
  const int32_t places = model.Numbers({3, 2}, {0, 0, 0, 1, 2, 0});
  const int32_t weights = model.writer.AddConstant<float>({"", {3}}, {3, 1, 2});
  const auto options = wire::CreateEmbeddingLookupSparseOptions(model.writer.builder(), wire::CombinerType_MEAN);
  EXPECT_THAT(model.Answer(33, {ids, places, shape, weights, model.x}, {3, 2}, options), ElementsAre(2, 3, 0, 0, 3, 4));
}

TEST(TfliteExpansion, AScatterToComputedPlacesAddsUp) {
  OneExpansion model({3});
  const int32_t places = model.writer.AddTensor({"places", {3, 1}, kInt});
  model.writer.AddOperator(53, {model.writer.AddConstant<float>({"", {3, 1}}, {2, 0, 2})}, {places});
  EXPECT_THAT(model.Answer(122, {places, model.x, model.Numbers({1}, {4})}, {4}), ElementsAre(2, 0, 4, 0));
}

TEST(TfliteExpansion, AQuantizedDiagonalStandsAmongZerosOfItsScale) {
  const WrittenQuantization steps = {.scales = {0.5f}, .zero_points = {7}};
  OneExpansion model({2});
  const int32_t x = model.writer.AddTensor({"q", {2}, wire::TensorType_INT8, steps});
  model.writer.AddOperator(114, {model.x}, {x});
  const int32_t matrix = model.writer.AddTensor({"matrix", {2, 2}, wire::TensorType_INT8, steps});
  model.writer.AddOperator(113, {x}, {matrix});
  const int32_t set = model.writer.AddTensor({"set", {2, 2}, wire::TensorType_INT8, steps});
  const int32_t nines = model.writer.AddConstant<int8_t>({"n", {2, 2}, wire::TensorType_INT8, steps}, {25, 25, 25, 25});
  model.writer.AddOperator(115, {nines, x}, {set});
  const int32_t sum = model.writer.AddTensor({"sum", {2, 2}, wire::TensorType_INT8, steps});
  model.writer.AddOperator(0, {matrix, set}, {sum});
  EXPECT_THAT(model.Answer(6, {sum}, {2, 2}), ElementsAre(2, 9, 9, 4));
}

TEST(TfliteExpansion, QuantizedUpdatesAreMovedToPlacesAndAddedUpWhereTheyMeet) {
  const WrittenQuantization steps = {.scales = {0.5f}, .zero_points = {7}};
  const auto model_of = [&](OneExpansion& model, const std::vector<int32_t>& places) {
    const int32_t x = model.writer.AddTensor({"q", {2, 2}, wire::TensorType_INT8, steps});
    model.writer.AddOperator(114, {model.x}, {x});
    const int32_t scattered = model.writer.AddTensor({"scattered", {4, 2}, wire::TensorType_INT8, steps});
    model.writer.AddOperator(122, {model.Numbers({2, 1}, places), x, model.Numbers({2}, {4, 2})}, {scattered});
    return scattered;
  };
  OneExpansion apart({2, 2});
  EXPECT_THAT(apart.Answer(6, {model_of(apart, {3, 1})}, {4, 2}), ElementsAre(0, 0, 3, 4, 0, 0, 1, 2));
  OneExpansion meeting({2, 2});
  EXPECT_THAT(meeting.Answer(6, {model_of(meeting, {1, 1})}, {4, 2}), ElementsAre(0, 0, 4, 6, 0, 0, 0, 0));
}

TEST(TfliteExpansion, SegmentsOfNoQuantizedRowsKeepTheirScaleAndAreRefusedAsRowsAre) {
  const WrittenQuantization steps = {.scales = {0.5f}, .zero_points = {7}};
  const auto model_of = [&](OneExpansion& model, int32_t code) {
    const int32_t x = model.writer.AddTensor({"q", {0, 2}, wire::TensorType_INT8, steps});
    model.writer.AddOperator(114, {model.x}, {x});
    const int32_t segments = model.writer.AddTensor({"segments", {2, 2}, wire::TensorType_INT8, steps});
    model.writer.AddOperator(code, {x, model.Numbers({0}, {}), model.Numbers({}, {2})}, {segments});
    return segments;
  };
  OneExpansion sums({0, 2}), most({0, 2});
  EXPECT_THAT(sums.Answer(6, {model_of(sums, 155)}, {2, 2}), ElementsAre(0, 0, 0, 0));
  EXPECT_THAT(RefusalOf(most.Read(6, {model_of(most, 154)}, {2, 2})), HasSubstr("share an index"));
}

TEST(TfliteExpansion, AFilledShapeHoldsANumberThatIsAnInput) {
  OneExpansion model({});
  EXPECT_THAT(model.Answer(94, {model.Numbers({2}, {2, 2}), model.x}, {2, 2}), ElementsAre(1, 1, 1, 1));
}

TEST(TfliteExpansion, ShapesAndZerosMayBeOutputs) {
  OneExpansion shape({2, 3});
  EXPECT_THAT(shape.Answer(77, {shape.x}, {2}, flatbuffers::Offset<wire::AddOptions>(), {}, kInt), ElementsAre(2, 3));
  OneExpansion zeros({2});
  EXPECT_THAT(zeros.Answer(93, {zeros.x}, {2}), ElementsAre(0, 0));
}

TEST(TfliteExpansion, AConvolutionOfVolumesAddsUpTheWindow) {
  OneExpansion model({1, 3, 2, 1, 1});  // planes 1 2, 3 4, 5 6
  const int32_t filter = model.writer.AddConstant<float>({"", {2, 2, 1, 1, 1}}, {1, 10, 100, 1000});
  const auto options = wire::CreateConv3DOptions(model.writer.builder(), wire::Padding_VALID, 1, 1, 1);
  EXPECT_THAT(model.Answer(132, {model.x, filter}, {1, 2, 1, 1, 1}, options), ElementsAre(4321, 6543));
}

TEST(TfliteExpansion, ATransposedConvolutionOfVolumesSpreadsEachPlane) {
  OneExpansion model({1, 2, 1, 1, 1});
  const int32_t filter = model.writer.AddConstant<float>({"", {3, 1, 1, 1, 1}}, {1, 10, 100});
  const int32_t shape = model.Numbers({5}, {1, 5, 1, 1, 1});
  const auto options = wire::CreateConv3DOptions(model.writer.builder(), wire::Padding_VALID, 2, 1, 1);
  EXPECT_THAT(model.Answer(141, {shape, filter, model.x}, {1, 5, 1, 1, 1}, options), ElementsAre(1, 10, 102, 20, 200));
}

TEST(TfliteExpansion, AVolumeThatIsSmallerThanItsWindowIsDamage) {
  OneExpansion model({1, 1, 2, 1, 1});
  const int32_t filter = model.writer.AddConstant<float>({"", {2, 1, 1, 1, 1}}, {1, 1});
  const auto options = wire::CreateConv3DOptions(model.writer.builder(), wire::Padding_VALID, 1, 1, 1);
  EXPECT_EQ(model.Read(132, {model.x, filter}, {1, 1, 2, 1, 1}, options).status().code(), StatusCode::kMalformedInput);
}

// The parts of a transform of 1, 2, ..., or what it is called where it can't be read.
struct OneTransform {
  OneTransform(const std::vector<int32_t>& shape, const std::vector<int32_t>& sizes) : model(shape) {
    made = shape;
    made[made.size() - 2] = sizes[0];
    made.back() = sizes[1] / 2 + 1;
    spectrum = model.writer.AddTensor({"spectrum", made, wire::TensorType_COMPLEX64});
    model.writer.AddOperator(131, {model.x, model.Numbers({2}, sizes)}, {spectrum});
  }
  OneExpansion model;
  std::vector<int32_t> made;
  int32_t spectrum;
};

TEST(TfliteExpansion, ATransformOfRowsHasRealAndImaginaryParts) {
  OneTransform real({1, 4}, {1, 4}), imaginary({1, 4}, {1, 4}), magnitude({1, 4}, {1, 4});
  EXPECT_THAT(real.model.Answer(134, {real.spectrum}, real.made), Near({10, -2, -2}));
  EXPECT_THAT(imaginary.model.Answer(133, {imaginary.spectrum}, real.made), Near({0, 2, 0}));
  EXPECT_THAT(magnitude.model.Answer(135, {magnitude.spectrum}, real.made), Near({10, std::sqrt(8.0), 2}));
}

TEST(TfliteExpansion, CastingComplexNumbersKeepsTheRealParts) {
  OneTransform transform({1, 4}, {1, 4});
  EXPECT_THAT(transform.model.Answer(53, {transform.spectrum}, transform.made), Near({10, -2, -2}));
}

TEST(TfliteExpansion, ATransformOfImagesGoesBothWays) {
  OneTransform transform({2, 2}, {2, 2});  // 1 2, 3 4
  EXPECT_THAT(transform.model.Answer(134, {transform.spectrum}, transform.made), Near({10, -2, -4, 0}));
}

TEST(TfliteExpansion, ComplexNumbersAreAnOutputOfPairs) {
  OneTransform transform({1, 4}, {1, 4});
  const std::vector<std::vector<double>> outputs = transform.model.Outputs({transform.spectrum}, {});
  ASSERT_EQ(outputs.size(), 1u);
  EXPECT_THAT(outputs[0], Near({10, 0, -2, 2, -2, 0}));
}

TEST(TfliteExpansion, AddingComplexNumbersIsRefused) {
  OneTransform transform({1, 4}, {1, 4});
  const int32_t sum = transform.model.writer.AddTensor({"sum", transform.made, wire::TensorType_COMPLEX64});
  transform.model.writer.AddOperator(0, {transform.spectrum, transform.spectrum}, {sum});
  EXPECT_FALSE(transform.model.Read(134, {sum}, transform.made).ok());
}

struct OneSuppression {
  explicit OneSuppression(int32_t asked_for = 3) : model({3}), most(asked_for) {
    boxes = model.writer.AddConstant<float>({"", {3, 4}}, {0, 0, 1, 1, 0, 0, 1, 0.75f, 2, 2, 3, 3});
    limit = model.Numbers({}, {most});
    overlap = model.writer.AddConstant<float>({"", {}}, {0.5f});
    score = model.writer.AddConstant<float>({"", {}}, {0.25f});
    sigma = model.writer.AddConstant<float>({"", {}}, {0.5f});
  }
  // All outputs for these scores.
  std::vector<std::vector<double>> Answers(int32_t code, const std::vector<double>& scores) {
    std::vector<int32_t> outputs = {model.writer.AddTensor({"chosen", {most}, kInt})};
    if (code == 121) outputs.push_back(model.writer.AddTensor({"scores", {most}}));
    outputs.push_back(model.writer.AddTensor({"count", {}, kInt}));
    std::vector<int32_t> inputs = {boxes, model.x, limit, overlap, score};
    if (code == 121) inputs.push_back(sigma);
    model.writer.AddOperator(code, inputs, outputs);
    return model.Outputs(outputs, scores);
  }
  OneExpansion model;
  int32_t most, boxes, limit, overlap, score, sigma;
};

TEST(TfliteExpansion, BoxesThatABetterOneCoversAreLeftOutAndTheListEndsWithZeros) {
  OneSuppression model;
  const auto answers = model.Answers(120, {0.5, 0.75, 1});
  ASSERT_EQ(answers.size(), 2u);
  EXPECT_THAT(answers[0], ElementsAre(2, 1, 0));
  EXPECT_THAT(answers[1], ElementsAre(2));
}

TEST(TfliteExpansion, BoxesOfLowScoresAreNoCandidates) {
  OneSuppression model;
  const auto answers = model.Answers(120, {0.1, 0.25, 0.2});
  ASSERT_EQ(answers.size(), 2u);
  EXPECT_THAT(answers[0], ElementsAre(0, 0, 0));
  EXPECT_THAT(answers[1], ElementsAre(0));
}

TEST(TfliteExpansion, NoBoxIsChosenIfNoneIsAskedFor) {
  for (const int32_t code : {120, 121}) {
    OneSuppression model(0);
    const auto answers = model.Answers(code, {0.5, 0.75, 1});
    ASSERT_EQ(answers.size(), code == 120 ? 2u : 3u);
    EXPECT_THAT(answers.front(), ElementsAre());
    EXPECT_THAT(answers.back(), ElementsAre(0));
  }
}

TEST(TfliteExpansion, SoftSuppressionLowersTheScoresOfOverlappingBoxes) {
  OneSuppression model;
  model.overlap = model.model.writer.AddConstant<float>({"", {}}, {0.99f});
  const auto answers = model.Answers(121, {0.5, 1, 0.75});
  ASSERT_EQ(answers.size(), 3u);
  EXPECT_THAT(answers[0], ElementsAre(1, 2, 0));
  EXPECT_THAT(answers[1], ElementsAre(1, 0.75, DoubleNear(0.5 * std::exp(-0.5625), 1e-6)));
  EXPECT_THAT(answers[2], ElementsAre(3));
}

TEST(TfliteExpansion, AnAbsentOperandIsDamage) {
  for (const int32_t code : {33, 68, 80, 94, 112, 120, 131, 132, 141, 147}) {
    OneExpansion model({1, 2});
    const Result<Graph> graph = model.Read(code, std::vector<int32_t>(5, -1), {1, 2});
    EXPECT_EQ(graph.status().code(), StatusCode::kMalformedInput) << code;
  }
}

// JAX's dot_general of int8: depths beyond 1,024 are summed in parts.
TEST(TfliteIntegerMatMul, SumsOfInt8WithoutAScaleAreExact) {
  for (const bool adjoint_a : {false, true}) {
    for (const bool adjoint_b : {false, true}) {
      constexpr int32_t kRows = 2, kDepth = 2500, kColumns = 3;
      OneExpansion model({1});
      model.x = model.writer.AddTensor(
          {"a", adjoint_a ? std::vector{kDepth, kRows} : std::vector{kRows, kDepth}, wire::TensorType_INT8});
      std::vector<int8_t> weights(kDepth * kColumns);
      std::vector<double> numbers(kRows * kDepth), sums;
      for (size_t k = 0; k < weights.size(); ++k) weights[k] = static_cast<int8_t>(k % 7 == 0 ? -128 : 127);
      for (size_t k = 0; k < numbers.size(); ++k) numbers[k] = k % 5 == 0 ? 3 : -128;
      for (int32_t r = 0; r < kRows; ++r) {
        for (int32_t c = 0; c < kColumns; ++c) {
          double sum = 0;
          for (int32_t k = 0; k < kDepth; ++k) {
            sum += numbers[adjoint_a ? k * kRows + r : r * kDepth + k] *
                   weights[adjoint_b ? c * kDepth + k : k * kColumns + c];
          }
          sums.push_back(sum);
        }
      }
      const int32_t right = model.writer.AddConstant<int8_t>(
          {"b", adjoint_b ? std::vector{kColumns, kDepth} : std::vector{kDepth, kColumns}, wire::TensorType_INT8},
          weights);
      EXPECT_EQ(model.Answer(126, {model.x, right}, {kRows, kColumns},
                             wire::CreateBatchMatMulOptions(model.writer.builder(), adjoint_a, adjoint_b), numbers,
                             wire::TensorType_INT32),
                sums);
    }
  }
}

TEST(TfliteIntegerMatMul, OtherFormsAreRefusedWithTheirTypes) {
  OneExpansion model({1});
  model.x = model.writer.AddTensor({"a", {2, 4}, wire::TensorType_INT8});
  const int32_t right = model.writer.AddConstant<int8_t>({"b", {4, 3}, wire::TensorType_INT8}, std::vector<int8_t>(12));
  EXPECT_THAT(RefusalOf(model.Read(126, {model.x, right}, {2, 3},
                                   wire::CreateBatchMatMulOptions(model.writer.builder(), false, false))),
              HasSubstr("as float32"));
}

}  // namespace
}  // namespace hearth
