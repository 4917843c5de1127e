// 8-bit weights under float data, as LiteRT's kernels read them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/graph/evaluate.h"
#include "frontends/tflite/reader.h"
#include "tests/testing/tflite_writer.h"

namespace hearth {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr int32_t kConnected = 9;

TEST(TfliteHybridWeights, EightBitWeightsUnderFloatsAreSignedAndHaveNoZeroPoint) {
  for (const wire::TensorType type : {wire::TensorType_UINT8, wire::TensorType_INT8}) {
    TfliteWriter writer;
    const int32_t w = writer.AddConstant<uint8_t>(
        {"w", {2, 2}, type, {{0.5f}, {type == wire::TensorType_INT8 ? 5 : 128}}}, {1, 127, 128, 255});
    const int32_t x = writer.AddTensor({"x", {1, 2}}), y = writer.AddTensor({"y", {1, 2}});
    writer.AddOperator(kConnected, {x, w}, {y});
    const auto bytes = writer.Finish({x}, {y});
    const Result<Graph> graph = ReadTfliteModel(bytes);
    ASSERT_TRUE(graph.ok()) << graph.status().message();
    EXPECT_THAT(*ConstantAsFloats(*graph, graph->nodes()[0].inputs[1]), ElementsAre(0.5f, 63.5f, -64.0f, -0.5f));
  }
}

TEST(TfliteHybridWeights, UnsignedWeightsOfAnUnsignedLayerKeepTheirZeroPoint) {
  const WrittenQuantization steps = {.scales = {0.5f}, .zero_points = {128}};
  TfliteWriter writer;
  const int32_t w = writer.AddConstant<uint8_t>({"w", {1, 2}, wire::TensorType_UINT8, steps}, {1, 255});
  const int32_t x = writer.AddTensor({"x", {1, 2}, wire::TensorType_UINT8, steps});
  const int32_t y = writer.AddTensor({"y", {1, 1}, wire::TensorType_UINT8, steps});
  writer.AddOperator(kConnected, {x, w}, {y});
  const auto bytes = writer.Finish({x}, {y});
  const Result<Graph> graph = ReadTfliteModel(bytes);
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_THAT(*ConstantAsFloats(*graph, graph->nodes()[0].inputs[1]), ElementsAre(-63.5f, 63.5f));
}

TEST(TfliteHybridWeights, UnsignedWeightsThatAreMadeAtRunTimeUnderFloatsAreRefused) {
  const WrittenQuantization steps = {.scales = {0.5f}, .zero_points = {128}};
  TfliteWriter writer;
  const int32_t w = writer.AddTensor({"w", {1, 2}, wire::TensorType_UINT8, steps});
  const int32_t x = writer.AddTensor({"x", {1, 2}}), y = writer.AddTensor({"y", {1, 1}});
  writer.AddOperator(kConnected, {x, w}, {y});
  const auto bytes = writer.Finish({x, w}, {y});
  const Result<Graph> graph = ReadTfliteModel(bytes);
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  const auto* unknown = std::get_if<UnknownOp>(&graph->nodes()[0].op);
  ASSERT_NE(unknown, nullptr);
  EXPECT_THAT(unknown->reason, HasSubstr("8-bit weights"));
}

}  // namespace
}  // namespace hearth
