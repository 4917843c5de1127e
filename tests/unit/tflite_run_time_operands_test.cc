// Operands that most files hold as constants and some get from the run, and inputs that decide shapes.
#include <flatbuffers/flexbuffers.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <map>

#include "core/graph/evaluate.h"
#include "frontends/tflite/reader.h"
#include "hearth/model.h"
#include "tests/testing/builtin_codes.h"
#include "tests/testing/one_expansion.h"
#include "tests/testing/tflite_writer.h"

namespace hearth {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr int32_t kTopKCode = 48, kPadCode = 34, kMaxPoolCode = 17, kTileCode = 69, kScatterNdCode = 122;

// The outputs for these inputs, by the reference.
std::vector<std::vector<double>> Outputs(const std::vector<std::byte>& bytes,
                                         const std::vector<std::vector<double>>& inputs,
                                         const ReadOptions& options = {}) {
  Result<Graph> graph = ReadTfliteModel(bytes, options);
  EXPECT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_EQ(RefusalOf(graph), "");
  if (!graph.ok() || !InferShapes(*graph).ok() || graph->inputs.size() != inputs.size()) return {};
  std::vector<ReferenceTensor> given;
  for (size_t k = 0; k < inputs.size(); ++k) given.push_back({graph->value(graph->inputs[k]).desc.shape, inputs[k]});
  const Result<std::vector<ReferenceTensor>> outputs = EvaluateGraph(*graph, given);
  EXPECT_TRUE(outputs.ok()) << outputs.status().message();
  std::vector<std::vector<double>> values;
  if (!outputs.ok()) return values;
  for (const ReferenceTensor& output : *outputs) values.push_back(output.values);
  return values;
}

// y = x[i:i + 2] of x[5].
std::vector<std::byte> Window() {
  TfliteWriter writer;
  const int32_t x = writer.AddTensor({"x", {5}}), i = writer.AddTensor({"i", {1}, kInt});
  const int32_t end = writer.AddTensor({"end", {1}, kInt}), y = writer.AddTensor({"y", {2}});
  writer.AddOperator(kAdd, {i, writer.AddIntegers({2})}, {end});
  writer.AddOperator(kStridedSlice, {x, i, end, writer.AddIntegers({1})}, {y});
  return writer.Finish({x, i}, {y});
}

TEST(TfliteRunTimeOperands, APartMayBeginWhereDataSay) {
  const std::vector<double> x = {1, 2, 3, 4, 5};
  EXPECT_THAT(Outputs(Window(), {x, {1}}), ElementsAre(ElementsAre(2, 3)));
  EXPECT_THAT(Outputs(Window(), {x, {-3}}), ElementsAre(ElementsAre(3, 4))) << "from the end";
  EXPECT_THAT(Outputs(Window(), {x, {9}}), ElementsAre(ElementsAre(4, 5))) << "moved into the tensor";
}

// y = x[int(r + 0.5)] of x[5], as SLICE.
TEST(TfliteRunTimeOperands, ARealNumberIsRoundedBeforeItIsABegin) {
  TfliteWriter writer;
  const int32_t x = writer.AddTensor({"x", {5}}), r = writer.AddTensor({"r", {1}});
  const int32_t half = writer.AddConstant<float>({"half", {1}}, {0.5f}), sum = writer.AddTensor({"sum", {1}});
  const int32_t begin = writer.AddTensor({"begin", {1}, kInt}), y = writer.AddTensor({"y", {1}});
  writer.AddOperator(kAdd, {r, half}, {sum});
  writer.AddOperator(kCast, {sum}, {begin});
  writer.AddOperator(kSlice, {x, begin, writer.AddIntegers({1})}, {y});
  EXPECT_THAT(Outputs(writer.Finish({x, r}, {y}), {{1, 2, 3, 4, 5}, {1.75}}), ElementsAre(ElementsAre(3)));
}

TEST(TfliteRunTimeOperands, IntegersAndTruthValuesMayBeScatteredWhereDataSay) {
  const auto scattered = [](wire::TensorType type, const std::vector<double>& updates) {
    TfliteWriter writer;
    const int32_t places = writer.AddTensor({"places", {3, 1}, kInt}), x = writer.AddTensor({"x", {3, 2}, type});
    const int32_t y = writer.AddTensor({"y", {4, 2}, type});
    writer.AddOperator(kScatterNdCode, {places, x, writer.AddIntegers({4, 2})}, {y});
    return Outputs(writer.Finish({places, x}, {y}), {{2, 0, 2}, updates});
  };
  for (const wire::TensorType type :
       {kInt, kLong, wire::TensorType_INT8, wire::TensorType_UINT8, wire::TensorType_UINT32})
    EXPECT_THAT(scattered(type, {1, 2, 3, 4, 5, 6}), ElementsAre(ElementsAre(3, 4, 0, 0, 6, 8, 0, 0)));
  EXPECT_THAT(scattered(kInt, {16777217, 0, 0, 0, 16777216, 0}),
              ElementsAre(ElementsAre(0, 0, 0, 0, 33554433, 0, 0, 0)));
  EXPECT_THAT(scattered(wire::TensorType_UINT8, {200, 0, 0, 0, 100, 0}),
              ElementsAre(ElementsAre(0, 0, 0, 0, 44, 0, 0, 0)));
  EXPECT_THAT(scattered(kBool, {1, 0, 0, 1, 1, 0}), ElementsAre(ElementsAre(0, 1, 0, 0, 1, 0, 0, 0)));
}

TEST(TfliteRunTimeOperands, ABeginFromTheRunDecidesNoShape) {
  const auto bytes = Window();
  const Result<Graph> graph = ReadTfliteModel(bytes);
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_TRUE(graph->shape_inputs.empty());
}

TEST(TfliteRunTimeOperands, APartOfUnknownLengthIsRefusedAndTheInputIsNamed) {
  TfliteWriter writer;
  const int32_t x = writer.AddTensor({"x", {5}}), i = writer.AddTensor({"i", {1}, kInt});
  const int32_t y = writer.AddTensor({"y", {2}});
  writer.AddOperator(kStridedSlice, {x, i, writer.AddIntegers({5}), writer.AddIntegers({1})}, {y});
  const auto bytes = writer.Finish({x, i}, {y});
  const Result<Graph> graph = ReadTfliteModel(bytes);
  EXPECT_THAT(RefusalOf(graph),
              HasSubstr("is the input 'i', which decides shapes: fix what it holds (--constant 'i=...')"));
  EXPECT_THAT(graph->shape_inputs, ElementsAre(graph->inputs[1]));
}

// Very many inputs of a number each make one list, whose elements are the axes of a sum.
std::vector<std::byte> AxesOfInputs(int32_t count) {
  TfliteWriter writer;
  std::vector<int32_t> inputs = {writer.AddTensor({"x", {2, 2}})}, axes;
  for (int32_t k = 0; k < count; ++k) axes.push_back(writer.AddTensor({"axis", {1}, kInt}));
  inputs.insert(inputs.end(), axes.begin(), axes.end());
  const int32_t all = writer.AddTensor({"all", {count}, kInt}), y = writer.AddTensor({"y", {2}});
  writer.AddOperator(2, axes, {all}, wire::CreateConcatenationOptions(writer.builder(), 0));
  writer.AddOperator(kSum, {inputs[0], all}, {y}, wire::CreateReducerOptions(writer.builder(), false));
  return writer.Finish(inputs, {y});
}

TEST(TfliteRunTimeOperands, WhatDependsOnMoreInputsThanAShapeHasNumbersIsData) {
  for (const auto& [count, marked] : {std::pair<int32_t, size_t>{64, 64}, {65, 0}, {5000, 0}}) {
    const auto bytes = AxesOfInputs(count);
    const Result<Graph> graph = ReadTfliteModel(bytes);
    ASSERT_TRUE(graph.ok()) << graph.status().message();
    EXPECT_EQ(graph->shape_inputs.size(), marked) << count;
    EXPECT_THAT(RefusalOf(graph), HasSubstr("is computed at run time, from 'axis'"));
  }
}

FixedInput Integers(const std::vector<int32_t>& numbers) {
  const auto bytes = std::as_bytes(std::span(numbers));
  return {"int32", {static_cast<int32_t>(numbers.size())}, {bytes.begin(), bytes.end()}};
}

// y = tile(pad(x[2, 2], paddings), multiples + 0), with both from the caller.
std::vector<std::byte> ShapesFromTheCaller() {
  TfliteWriter writer;
  const int32_t x = writer.AddTensor({"x", {2, 2}}), paddings = writer.AddTensor({"paddings", {2, 2}, kInt});
  const int32_t multiples = writer.AddTensor({"multiples", {2}, kInt}), sum = writer.AddTensor({"sum", {2}, kInt});
  const int32_t padded = writer.AddTensor({"padded", {}}), y = writer.AddTensor({"y", {}});
  writer.AddOperator(kPadCode, {x, paddings}, {padded});
  writer.AddOperator(kAdd, {multiples, writer.AddIntegers({0, 0})}, {sum});
  writer.AddOperator(kTileCode, {padded, sum}, {y});
  writer.AddSignature("serve", 0, {{"times", multiples}}, {});
  return writer.Finish({x, paddings, multiples}, {y});
}

TEST(TfliteShapeInputs, AreConstantsOnceTheyAreFixed) {
  FixedInput paddings = Integers({0, 0, 0, 1});
  paddings.shape = {2, 2};
  const ReadOptions options = {.constants = {{"paddings", paddings}, {"times", Integers({2, 1})}}};
  EXPECT_THAT(Outputs(ShapesFromTheCaller(), {{1, 2, 3, 4}}, options),
              ElementsAre(ElementsAre(1, 2, 0, 3, 4, 0, 1, 2, 0, 3, 4, 0)));
}

TEST(TfliteShapeInputs, AreMarked) {
  const auto marks = [](const std::map<std::string, FixedInput>& constants) {
    const Result<Model> model = Model::FromMemory(ShapesFromTheCaller(), "m", {.constants = constants});
    std::map<std::string, bool> all;
    EXPECT_TRUE(model.ok()) << model.status().message();
    for (const TensorInfo& input : model->inputs()) all[input.name] = input.decides_shapes;
    return all;
  };
  EXPECT_THAT(marks({}), (std::map<std::string, bool>{{"x", false}, {"paddings", true}, {"multiples", true}}));
  EXPECT_THAT(marks({{"times", Integers({2, 1})}}), (std::map<std::string, bool>{{"x", false}, {"paddings", true}}));
}

TEST(TfliteShapeInputs, AreFixedWithWhatFitsThem) {
  const auto error = [](const std::string& name, const FixedInput& fixed) {
    return ReadTfliteModel(ShapesFromTheCaller(), {.constants = {{name, fixed}}}).status();
  };
  EXPECT_THAT(error("other", Integers({1})).message(), HasSubstr("which is not an input of the model"));
  EXPECT_EQ(error("multiples", Integers({1})).code(), StatusCode::kOk) << "the file's size is a hint";
  EXPECT_THAT(error("multiples", {"text", {1}, std::vector<std::byte>(8)}).message(), HasSubstr("8 bytes of text"));
  EXPECT_THAT(error("multiples", {"int32", {2}, std::vector<std::byte>(4)}).message(),
              HasSubstr("which has 2 elements"));
}

FixedInput FixedReals(const std::vector<double>& numbers) {
  const auto bytes = std::as_bytes(std::span(numbers));
  return {"float64", {static_cast<int32_t>(numbers.size())}, {bytes.begin(), bytes.end()}};
}

TEST(TfliteShapeInputs, TakeNumbersOfAnotherTypeThatTheirsHolds) {
  FixedInput paddings = FixedReals({0, 0, 0, 1});
  paddings.shape = {};  // the file's
  const ReadOptions options = {.constants = {{"paddings", paddings}, {"times", FixedReals({1, 1})}}};
  EXPECT_THAT(Outputs(ShapesFromTheCaller(), {{1, 2, 3, 4}}, options), ElementsAre(ElementsAre(1, 2, 0, 3, 4, 0)));
  const Status half = ReadTfliteModel(ShapesFromTheCaller(), {.constants = {{"times", FixedReals({1, 0.5})}}}).status();
  EXPECT_THAT(half.message(), HasSubstr("does not hold all numbers"));
}

TEST(TfliteRunTimeOperands, TheLargestOfAListMayBeAsManyAsDataSay) {
  TfliteWriter writer;
  const int32_t x = writer.AddTensor({"x", {4}}), k = writer.AddTensor({"k", {}, kInt});
  const int32_t best = writer.AddTensor({"best", {4}}), places = writer.AddTensor({"places", {4}, kInt});
  writer.AddOperator(kTopKCode, {x, k}, {best, places});
  const auto bytes = writer.Finish({x, k}, {best, places});
  const auto outputs = Outputs(bytes, {{3, 9, 1, 7}, {2}});
  ASSERT_EQ(outputs.size(), 4u);
  EXPECT_THAT(outputs[0], ElementsAre(9, 7, 3, 1));
  EXPECT_THAT(outputs[1], ElementsAre(1, 3, 0, 2));
  EXPECT_THAT(outputs[2], ElementsAre(2)) << "valid ones";
}

// LiteRT 2.3.0 gives 0 or the type's lowest number for these.
TEST(TflitePlainIntegers, HaveMeansAndSums) {
  const auto answer = [](int32_t code, wire::TensorType type, const std::vector<double>& numbers) {
    TfliteWriter writer;
    const int32_t x = writer.AddTensor({"x", {2, 3}, type}), y = writer.AddTensor({"y", {2}, type});
    writer.AddOperator(code, {x, writer.AddIntegers({1})}, {y});
    return Outputs(writer.Finish({x}, {y}), {numbers});
  };
  EXPECT_THAT(answer(kMean, wire::TensorType_UINT8, {250, 252, 255, 1, 2, 4}), ElementsAre(ElementsAre(252, 2)));
  EXPECT_THAT(answer(kMean, wire::TensorType_INT16, {-5, -5, -6, 1, 2, 4}), ElementsAre(ElementsAre(-5, 2)));
  EXPECT_THAT(answer(kSum, wire::TensorType_INT8, {5, -6, 7, 100, 20, 30}), ElementsAre(ElementsAre(6, -106)));
}

TEST(TflitePlainIntegers, OfMoreThan16BitsHaveNoPools) {
  TfliteWriter writer;
  const int32_t x = writer.AddTensor({"x", {1, 2, 2, 1}, kInt}), y = writer.AddTensor({"y", {1, 1, 1, 1}, kInt});
  writer.AddOperator(kMaxPoolCode, {x}, {y},
                     wire::CreatePool2DOptions(writer.builder(), wire::Padding_VALID, 1, 1, 2, 2));
  EXPECT_THAT(RefusalOf(writer.Finish({x}, {y})), HasSubstr("of int32 without scale"));
}

// ai-edge-quantizer's operator, which LiteRT's interpreter has no kernel for: Sylvester's matrix over the root of its
// size.
TEST(TfliteHadamardRotation, RotatesEachRunOfTheLastDimension) {
  for (const auto& runs : {std::pair{1, 3}, {4, 12}, {128, 256}}) {
    const int size = runs.first, length = runs.second;
    TfliteWriter writer;
    const int32_t x = writer.AddTensor({"x", {2, length}}), y = writer.AddTensor({"y", {2, length}});
    flexbuffers::Builder options;
    options.Map([&] { options.Int("hadamard_size", size); });
    options.Finish();
    writer.AddCustomOperator("aeq.hadamard_rotation", {x}, {y}, options.GetBuffer());
    std::vector<double> numbers;
    for (int k = 0; k < 2 * length; ++k) numbers.push_back(k * 37 % 101 / 50.0 - 1.0);
    std::vector<double> expected(numbers.size());
    for (size_t at = 0; at < numbers.size(); ++at) {
      const size_t i = at % size;
      for (size_t k = 0; k < static_cast<size_t>(size); ++k) {
        expected[at] += (std::popcount(i & k) % 2 == 0 ? 1 : -1) * numbers[at - i + k] / std::sqrt(size);
      }
    }
    const auto outputs = Outputs(writer.Finish({x}, {y}), {numbers});
    ASSERT_EQ(outputs.size(), 1u);
    EXPECT_THAT(outputs[0], ::testing::Pointwise(::testing::DoubleNear(1e-6), expected)) << size;
  }
}

TEST(TfliteComplex, InputsAndOutputsArePairs) {
  TfliteWriter writer;
  const int32_t x = writer.AddTensor({"x", {2}, wire::TensorType_COMPLEX64}), real = writer.AddTensor({"real", {2}});
  const int32_t turned = writer.AddTensor({"turned", {2, 1}, wire::TensorType_COMPLEX64});
  writer.AddOperator(134, {x}, {real});
  writer.AddOperator(kReshape, {x, writer.AddIntegers({2, 1})}, {turned});
  const auto bytes = writer.Finish({x}, {real, turned});
  EXPECT_THAT(Outputs(bytes, {{1, 2, 3, 4}}), ElementsAre(ElementsAre(1, 3), ElementsAre(1, 2, 3, 4)));
  const Result<Model> model = Model::FromMemory(bytes);
  ASSERT_TRUE(model.ok()) << model.status().message();
  EXPECT_EQ(model->inputs()[0].shape, (std::vector<int32_t>{2, 2}));
  EXPECT_EQ(model->inputs()[0].declared_shape, (std::vector<int32_t>{2, 2}));
  EXPECT_EQ(model->outputs()[1].shape, (std::vector<int32_t>{2, 1, 2}));
  EXPECT_EQ(model->outputs()[1].dtype, "float32");
}

}  // namespace
}  // namespace hearth
