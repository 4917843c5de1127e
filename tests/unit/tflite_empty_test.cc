// Tensors without elements inside of a model. tflite_empty_operators_test.cc: operators that become several, and loops.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "core/base/error.h"
#include "core/graph/evaluate.h"
#include "frontends/tflite/reader.h"
#include "hearth/session.h"
#include "tests/testing/builtin_codes.h"
#include "tests/testing/device_names.h"
#include "tests/testing/on_device.h"
#include "tests/testing/tflite_writer.h"

namespace hearth {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(TfliteEmpty, ASliceThatTheFileSaysHasNoElementsAddsNothingToAList) {
  // What Keras's recurrent layers with an open batch write: a list of one element, and nothing before and behind it.
  TfliteWriter writer;
  const int32_t x = writer.AddTensor({"x", {1, 2}}), y = writer.AddTensor({"y", {1, 2}});
  const WrittenQuantization steps = {.scales = {0.5f}, .zero_points = {0}};
  const int32_t cut = writer.AddTensor({"cut", {0, 2}, wire::TensorType_INT8, steps});
  const int32_t before = writer.AddTensor({"before", {0, 2}}), behind = writer.AddTensor({"behind", {0, 2}});
  writer.AddOperator(kSlice, {x, writer.AddIntegers({0, 0}), writer.AddIntegers({0, -1})}, {before});
  writer.AddOperator(kSlice, {x, writer.AddIntegers({1, 0}), writer.AddIntegers({-1, -1})}, {behind});
  writer.AddOperator(kQuantize, {before}, {cut});
  const int32_t again = writer.AddTensor({"again", {0, 2}});
  writer.AddOperator(kDequantize, {cut}, {again});
  writer.AddOperator(kConcatenation, {again, x, behind}, {y}, wire::CreateConcatenationOptions(writer.builder(), 0));
  const auto bytes = writer.Finish({x}, {y});
  Result<Graph> graph = ReadTfliteModel(bytes);
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  const ReferenceTensor input{{1, 2}, {3, 4}};
  const Result<std::vector<ReferenceTensor>> outputs = EvaluateGraph(*graph, {&input, 1});
  ASSERT_TRUE(outputs.ok()) << outputs.status().message();
  EXPECT_THAT((*outputs)[0].values, ElementsAre(3, 4));
}

// What one operator makes of an input x of `shape`, and of `others`; its output's shape stays open.
class OfNothing {
 public:
  explicit OfNothing(std::vector<int32_t> shape) : x_(writer_.AddTensor({"x", std::move(shape)})) {}

  TfliteWriter& writer() { return writer_; }
  template <typename... Options>
  Result<ReferenceTensor> Make(int32_t code, const std::vector<int32_t>& others, Options... options) {
    const int32_t y = writer_.AddTensor({"y", {}});
    std::vector<int32_t> operands = {x_};
    operands.insert(operands.end(), others.begin(), others.end());
    writer_.AddOperator(code, operands, {y}, options...);
    const auto bytes = writer_.Finish({x_}, {y});
    HEARTH_ASSIGN(Graph graph, ReadTfliteModel(bytes));
    HEARTH_TRY(InferShapes(graph));
    const ReferenceTensor x{graph.value(graph.inputs[0]).desc.shape, {}};
    HEARTH_ASSIGN(const std::vector<ReferenceTensor> outputs, EvaluateGraph(graph, {&x, 1}));
    return outputs[0];
  }

 private:
  TfliteWriter writer_;
  int32_t x_;
};

void ExpectTensor(const Result<ReferenceTensor>& made, const Shape& shape, const std::vector<double>& values) {
  ASSERT_TRUE(made.ok()) << made.status().message();
  EXPECT_EQ(made->shape, shape);
  EXPECT_EQ(made->values, values);
}

TEST(TfliteEmpty, OfNoElementsElementwiseOperatorsMakeNone) {
  ExpectTensor(OfNothing({0, 2}).Make(kNeg, {}), {0, 2}, {});
  OfNothing broadcast({2, 0});
  const int32_t column = broadcast.writer().AddConstant<float>({"", {2, 1}}, {1, 2});
  ExpectTensor(broadcast.Make(kMul, {column}), {2, 0}, {});
}

TEST(TfliteEmpty, ImagesWithoutRowsOrChannelsArePooledAndResizedToNone) {
  constexpr int32_t kMaxPool2D = 17, kResizeBilinear = 23;
  for (const wire::Padding padding : {wire::Padding_SAME, wire::Padding_VALID}) {
    for (const auto& [shape, expected] : {std::pair{Shape{1, 0, 9, 2}, Shape{1, 0, 3, 2}},
                                          {Shape{1, 8, 0, 2}, Shape{1, 4, 0, 2}},
                                          {Shape{1, 8, 9, 0}, Shape{1, 4, 3, 0}}}) {
      OfNothing of({shape.dims().begin(), shape.dims().end()});
      ExpectTensor(of.Make(kMaxPool2D, {}, wire::CreatePool2DOptions(of.writer().builder(), padding, 3, 2, 3, 2)),
                   expected, {});
    }
  }
  OfNothing of({1, 5, 4, 0});
  ExpectTensor(of.Make(kResizeBilinear, {of.writer().AddIntegers({2, 13})},
                       wire::CreateResizeBilinearOptions(of.writer().builder(), false, false)),
               {1, 2, 13, 0}, {});
}

TEST(TfliteEmpty, ReductionsOfNothingAreLiteRts) {
  constexpr double kMost = std::numeric_limits<double>::infinity();
  const std::pair<int32_t, double> expected[] = {
      {kSum, 0}, {kReduceProd, 1}, {kReduceMax, -kMost}, {kReduceMin, kMost}};
  for (const auto& [code, value] : expected) {
    OfNothing of({2, 0});
    const int32_t axis = of.writer().AddIntegers({1});
    ExpectTensor(of.Make(code, {axis}, wire::CreateReducerOptions(of.writer().builder(), false)), {2}, {value, value});
  }
  OfNothing mean({2, 0});
  const Result<ReferenceTensor> made = mean.Make(kMean, {mean.writer().AddIntegers({1})});
  ASSERT_TRUE(made.ok()) << made.status().message();
  EXPECT_TRUE(std::isnan(made->values.at(0)));
}

TEST(TfliteEmpty, WhatSurroundsNothingIsPaddingAlone) {
  OfNothing of({0, 1});
  const int32_t paddings = of.writer().AddConstant<int32_t>({"", {2, 2}, kInt}, {1, 1, 0, 1});
  const int32_t value = of.writer().AddConstant<float>({"", {1}}, {7});
  ExpectTensor(of.Make(kPadV2, {paddings, value}), {2, 2}, {7, 7, 7, 7});
}

TEST(TfliteEmpty, ProductsOverNoElementsAreZeroWithoutBias) {
  OfNothing of({2, 0});
  const int32_t filter = of.writer().AddTensor({"filter", {3, 0}});
  const int32_t bias = of.writer().AddConstant<float>({"", {3}}, {1, 2, 3});
  ExpectTensor(of.Make(kFullyConnected, {filter, bias},
                       wire::CreateFullyConnectedOptions(of.writer().builder(), wire::ActivationFunctionType_NONE,
                                                         wire::WeightsFormat_DEFAULT, true)),
               {2, 3}, {0, 0, 0, 0, 0, 0});
}

TEST(TfliteEmpty, AReshapeStretchesBesideAZeroAsLiteRtDoes) {
  const std::pair<std::vector<int32_t>, Shape> expected[] = {
      {{3, 0, 2}, {3, 0, 2}}, {{-1, 2}, {0, 2}}, {{0, -1}, {0, 6}}, {{-1}, {0}}};
  for (const auto& [wanted, shape] : expected) {
    OfNothing of({0, 6});
    ExpectTensor(of.Make(kReshape, {of.writer().AddIntegers(wanted)}), shape, {});
  }
  OfNothing of({0, 6});
  EXPECT_FALSE(of.Make(kReshape, {of.writer().AddIntegers({2, 3})}).ok());
}

TEST(TfliteEmpty, AShapeThatTheFileSaysHasNoElementsIsInferred) {
  TfliteWriter writer;
  const int32_t x = writer.AddTensor({"x", {1, 2}}), y = writer.AddTensor({"y", {0, 2}});
  writer.AddOperator(kMul, {x, x}, {y});
  const auto bytes = writer.Finish({x}, {y});
  const Result<Graph> graph = ReadTfliteModel(bytes);
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_EQ(graph->value(graph->outputs[0]).desc.shape, (Shape{1, 2}));
}

TEST(TfliteEmpty, WhatHasNoElementToTakeIsRefused) {
  OfNothing of({0, 2});
  const int32_t indices = of.writer().AddIntegers({0});
  const Result<ReferenceTensor> made =
      of.Make(kGather, {indices}, wire::CreateGatherOptions(of.writer().builder(), 0, 0));
  EXPECT_THAT(made.status().message(), HasSubstr("there is nothing to take from x of shape 0x2"));
}

// Nothing and an image: what is made of both runs, and nothing is an output too.
class NothingOnDevices : public testing::SessionsOnDevice {};

TEST_P(NothingOnDevices, GoesInAndOut) {
  TfliteWriter writer;
  const int32_t none = writer.AddTensor({"none", {0, 2}}), x = writer.AddTensor({"x", {1, 2}});
  const int32_t negated = writer.AddTensor({"negated", {0, 2}}), all = writer.AddTensor({"all", {1, 2}});
  const int32_t sum = writer.AddTensor({"sum", {2}}), y = writer.AddTensor({"y", {1, 2}});
  writer.AddOperator(kNeg, {none}, {negated});
  writer.AddOperator(kConcatenation, {negated, x}, {all}, wire::CreateConcatenationOptions(writer.builder(), 0));
  writer.AddOperator(kSum, {negated, writer.AddIntegers({0})}, {sum},
                     wire::CreateReducerOptions(writer.builder(), false));
  writer.AddOperator(kAdd, {all, sum}, {y});
  Session session = Opened(writer.Finish({none, x}, {y, negated, sum, none}));
  ASSERT_TRUE(session.SetInput<float>(0, std::vector<float>()).ok());
  ASSERT_TRUE(session.SetInput<float>(1, std::vector<float>{3, 4}).ok());
  ASSERT_TRUE(session.Run().ok());
  EXPECT_THAT(session.output<float>(0).value(), ElementsAre(3, 4));
  EXPECT_THAT(session.output<float>(1).value(), ElementsAre());
  EXPECT_THAT(session.output<float>(2).value(), ElementsAre(0, 0));
  EXPECT_THAT(session.output<float>(3).value(), ElementsAre());
}

TEST_P(NothingOnDevices, ABatchOfNoneIsResizedToAndFrom) {
  TfliteWriter writer;
  const int32_t x = writer.AddTensor({"x", {1, 2}, wire::TensorType_FLOAT32, {}, false, {-1, 2}});
  const int32_t y = writer.AddTensor({"y", {1, 2}, wire::TensorType_FLOAT32, {}, false, {-1, 2}});
  writer.AddOperator(kNeg, {x}, {y});
  Session session = Opened(writer.Finish({x}, {y}));
  const Status resized = session.ResizeBatch(0);
  ASSERT_TRUE(resized.ok()) << resized.message();
  ASSERT_TRUE(session.SetInput<float>(0, std::vector<float>()).ok());
  ASSERT_TRUE(session.Run().ok());
  EXPECT_THAT(session.output<float>(0).value(), ElementsAre());
  ASSERT_TRUE(session.ResizeBatch(1).ok());
  ASSERT_TRUE(session.SetInput<float>(0, std::vector<float>{3, 4}).ok());
  ASSERT_TRUE(session.Run().ok());
  EXPECT_THAT(session.output<float>(0).value(), ElementsAre(-3, -4));
}

INSTANTIATE_TEST_SUITE_P(Devices, NothingOnDevices, ::testing::ValuesIn(testing::DeviceNames()));

}  // namespace
}  // namespace hearth
