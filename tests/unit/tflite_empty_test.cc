// Tensors without elements inside of a model.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/graph/evaluate.h"
#include "frontends/tflite/reader.h"
#include "tests/testing/builtin_codes.h"
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

TEST(TfliteEmpty, WhatIsCalculatedOfNoElementsIsRefused) {
  TfliteWriter writer;
  const int32_t x = writer.AddTensor({"x", {1, 2}}), y = writer.AddTensor({"y", {0, 2}});
  writer.AddOperator(kMul, {x, x}, {y});
  const auto bytes = writer.Finish({x}, {y});
  const Result<Graph> graph = ReadTfliteModel(bytes);
  ASSERT_FALSE(graph.ok());
  EXPECT_THAT(graph.status().message(), HasSubstr("has no elements"));
}

}  // namespace
}  // namespace hearth
