// RANDOM_UNIFORM, RANDOM_STANDARD_NORMAL, MULTINOMIAL. The expected numbers are LiteRT's answers (TensorFlow 2.21) to
// models with the same seeds, run after run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>

#include "core/graph/evaluate.h"
#include "core/graph/ops/op_functions.h"
#include "frontends/tflite/reader.h"
#include "tests/testing/builtin_codes.h"
#include "tests/testing/tflite_writer.h"

namespace hearth {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Result<Graph> NumbersModel(int32_t code, int64_t seed, int64_t seed2, int32_t count, std::vector<std::byte>& bytes) {
  TfliteWriter writer;
  const int32_t x = writer.AddTensor({"x", {1}}), y = writer.AddTensor({"y", {count}});
  const int32_t same = writer.AddTensor({"same", {1}});
  writer.AddOperator(code, {writer.AddIntegers({count})}, {y},
                     wire::CreateRandomOptions(writer.builder(), seed, seed2));
  writer.AddOperator(0, {x, x}, {same});
  bytes = writer.Finish({x}, {y, same});
  return ReadTfliteModel(bytes);
}

Result<Graph> MultinomialModel(std::vector<std::byte>& bytes) {
  TfliteWriter writer;
  const int32_t x = writer.AddTensor({"x", {3, 4}}), y = writer.AddTensor({"y", {3, 5}, kInt});
  const int32_t samples = writer.AddConstant<int32_t>({"", {}, kInt}, {5});
  writer.AddOperator(kMultinomial, {x, samples}, {y}, wire::CreateRandomOptions(writer.builder(), 5, 9));
  bytes = writer.Finish({x}, {y});
  return ReadTfliteModel(bytes);
}

// What the first output is in so many runs.
std::vector<std::vector<double>> RunsOf(const Result<Graph>& graph, const std::vector<double>& x, int count) {
  EXPECT_TRUE(graph.ok()) << graph.status().message();
  if (!graph.ok()) return std::vector<std::vector<double>>(static_cast<size_t>(count));
  const ReferenceTensor input{graph->value(graph->inputs[0]).desc.shape, x};
  std::vector<ReferenceTensor> states;
  std::vector<std::vector<double>> runs;
  for (int run = 0; run < count; ++run) {
    const Result<std::vector<ReferenceTensor>> outputs = EvaluateGraph(*graph, {&input, 1}, &states);
    EXPECT_TRUE(outputs.ok()) << outputs.status().message();
    runs.push_back(outputs.ok() ? (*outputs)[0].values : std::vector<double>());
  }
  return runs;
}

std::vector<uint32_t> Bits(const std::vector<double>& values) {
  std::vector<uint32_t> bits;
  for (const double value : values) bits.push_back(std::bit_cast<uint32_t>(static_cast<float>(value)));
  return bits;
}

TEST(RandomNumbers, PhiloxGivesItsAuthorsNumbers) {
  EXPECT_THAT(Philox({0, 0, 0, 0}, {0, 0}), ElementsAre(0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8));
}

TEST(RandomNumbers, ThreefryGivesItsAuthorsNumbers) {
  EXPECT_THAT(Threefry({0, 0}, {0, 0}), ElementsAre(0x6b200159, 0x99ba4efe));
  EXPECT_THAT(Threefry({~0u, ~0u}, {~0u, ~0u}), ElementsAre(0x1cb996fc, 0xbb002be7));
}

TEST(RandomNumbers, UniformOnesAreLiteRtsBitsInEachRun) {
  std::vector<std::byte> bytes;
  const auto runs = RunsOf(NumbersModel(kRandomUniform, 5, 9, 7, bytes), {0}, 3);
  EXPECT_THAT(Bits(runs[0]),
              ElementsAre(0x3f5be7dc, 0x3e589608, 0x3e2e43f8, 0x3f423e8e, 0x3f32ca44, 0x3f7eb564, 0x3c32eb80));
  EXPECT_THAT(Bits(runs[1]),
              ElementsAre(0x3e9b34a0, 0x3dfbad90, 0x3eac0a20, 0x3f355874, 0x3eaf77b4, 0x3d256c60, 0x3e3a1af0));
  EXPECT_THAT(Bits(runs[2]),
              ElementsAre(0x3ecbe9f4, 0x3f256114, 0x3f6f1e68, 0x3f4e0e80, 0x3e9975fc, 0x3d97a840, 0x3f425e06));
}

TEST(RandomNumbers, NormalOnesAreLiteRtsUpToARoundingOfSineAndCosine) {
  std::vector<std::byte> bytes;
  const auto runs = RunsOf(NumbersModel(kRandomStandardNormal, 5, 9, 7, bytes), {0}, 3);
  const std::vector<double> first = {0.535279, 0.1320366, -1.8791082, 0.10361496, -0.02685229, 0.84688187, -2.615129};
  const std::vector<double> third = {-1.077453, -0.8248326, -0.34760472, 0.12492026, 0.6964909, 1.3873205, 0.5641975};
  EXPECT_THAT(runs[0], ::testing::Pointwise(::testing::DoubleNear(5e-7), first));
  EXPECT_THAT(runs[2], ::testing::Pointwise(::testing::DoubleNear(5e-7), third));
}

TEST(RandomNumbers, MultinomialDrawsLiteRtsClassesInEachRun) {
  std::vector<std::byte> bytes;
  const auto runs = RunsOf(MultinomialModel(bytes), {0, 1, 2, 3, 3, 0, -1, 2, 0, 0, 0, 0}, 3);
  EXPECT_THAT(runs[0], ElementsAre(3, 3, 3, 1, 3, 0, 2, 0, 0, 0, 1, 0, 0, 3, 0));
  EXPECT_THAT(runs[1], ElementsAre(3, 3, 3, 3, 3, 1, 0, 0, 3, 0, 3, 1, 2, 1, 3));
  EXPECT_THAT(runs[2], ElementsAre(3, 3, 3, 3, 3, 0, 0, 0, 0, 0, 2, 2, 1, 1, 0));
}

TEST(RandomNumbers, WithoutSeedsEachOperatorHasAStreamOfItsOwn) {
  TfliteWriter writer;
  const int32_t x = writer.AddTensor({"x", {1}});
  std::vector<int32_t> outputs;
  for (const char* name : {"a", "b"}) {
    outputs.push_back(writer.AddTensor({name, {2}}));
    writer.AddOperator(kRandomUniform, {writer.AddIntegers({2})}, {outputs.back()});
  }
  const auto bytes = writer.Finish({x}, outputs);
  const Result<Graph> graph = ReadTfliteModel(bytes);
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  const ReferenceTensor input{{1}, {0}};
  const auto made = EvaluateGraph(*graph, {&input, 1});
  ASSERT_TRUE(made.ok()) << made.status().message();
  EXPECT_NE((*made)[0].values, (*made)[1].values);
}

TEST(RandomNumbers, AnInputThatDecidesTheShapeIsRefusedByItsName) {
  TfliteWriter writer;
  const int32_t x = writer.AddTensor({"sizes", {1}, kInt}), y = writer.AddTensor({"y", {1}});
  writer.AddOperator(kRandomUniform, {x}, {y});
  const auto bytes = writer.Finish({x}, {y});
  const Result<Graph> graph = ReadTfliteModel(bytes);
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  const auto* unknown = std::get_if<UnknownOp>(&graph->nodes()[0].op);
  ASSERT_NE(unknown, nullptr);
  EXPECT_THAT(unknown->reason, HasSubstr("the input 'sizes', which decides shapes"));
}

}  // namespace
}  // namespace hearth
