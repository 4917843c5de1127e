// Loops that only data end: WHILE as one operation, which the host runs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "backends/cpu/cpu_executor.h"
#include "core/base/run_control.h"
#include "core/graph/evaluate.h"
#include "frontends/tflite/reader.h"
#include "tests/testing/builtin_codes.h"
#include "tests/testing/loop_models.h"
#include "tests/testing/one_expansion.h"
#include "tests/testing/tflite_writer.h"

namespace hearth {
namespace {

using testing::AddLoop;
using testing::DoublingLoop;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::LoopParts;

std::vector<std::vector<double>> Reference(const Graph& graph, const std::vector<double>& x) {
  const ReferenceTensor input{{2}, x};
  const Result<std::vector<ReferenceTensor>> outputs = EvaluateGraph(graph, {&input, 1});
  EXPECT_TRUE(outputs.ok()) << outputs.status().message();
  std::vector<std::vector<double>> values;
  if (outputs.ok()) {
    for (const ReferenceTensor& output : *outputs) values.push_back(output.values);
  }
  return values;
}

// The same on the CPU: the turns, then v.
std::vector<float> OnTheCpu(Graph& graph, std::vector<float> x, RunControl* control = nullptr) {
  EXPECT_TRUE(InferShapes(graph).ok());
  std::vector<int> nodes(graph.nodes().size());
  std::iota(nodes.begin(), nodes.end(), 0);
  const auto executor = MakeCpuExecutor();
  auto program = executor->Prepare(graph, nodes, graph.outputs, 2);
  EXPECT_TRUE(program.ok()) << program.status().message();
  if (!program.ok()) return {};
  int32_t turns = 0;
  std::vector<float> y(2);
  const HostTensor tensors[] = {{graph.inputs[0], std::as_writable_bytes(std::span(x))},
                                {graph.outputs[0], std::as_writable_bytes(std::span(&turns, 1))},
                                {graph.outputs[1], std::as_writable_bytes(std::span(y))}};
  const Status ran = (*program)->Run(tensors, {.control = control});
  EXPECT_TRUE(ran.ok()) << ran.message();
  return {static_cast<float>(turns), y[0], y[1]};
}

TEST(TfliteLoop, EndsWhereDataSay) {
  const auto bytes = DoublingLoop();
  const Result<Graph> graph = ReadTfliteModel(bytes);
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  ASSERT_TRUE(graph->Validate().ok()) << graph->Validate().message();
  EXPECT_THAT(Reference(*graph, {1, 2}), ElementsAre(ElementsAre(9), ElementsAre(512, 1024)));
  EXPECT_THAT(Reference(*graph, {600, 500}), ElementsAre(ElementsAre(0), ElementsAre(600, 500)));
}

TEST(TfliteLoop, OnTheCpuEndsWhereDataSay) {
  const auto bytes = DoublingLoop();
  Result<Graph> graph = ReadTfliteModel(bytes);
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_THAT(OnTheCpu(*graph, {1, 2}), ElementsAre(9, 512, 1024));
  EXPECT_THAT(OnTheCpu(*graph, {600, 500}), ElementsAre(0, 600, 500));
}

TEST(TfliteLoop, OnTheCpuATrialEndsWhatItsZerosDoNot) {
  const auto bytes = DoublingLoop();
  Result<Graph> graph = ReadTfliteModel(bytes);
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  RunControl trial = RunControl::ForTrial();
  EXPECT_THAT(OnTheCpu(*graph, {0, 0}, &trial), ElementsAre(RunControl::kTrialIterations, 0, 0));
  EXPECT_THAT(OnTheCpu(*graph, {1, 2}, &trial), ElementsAre(9, 512, 1024));
}

// A loop in a loop, both of which data end.
std::vector<std::byte> LoopInALoop() {
  TfliteWriter writer;
  AddLoop(writer);
  LoopParts parts(writer);
  parts.EndCondition(1000.0f);  // 1
  const int32_t inner_turns = writer.AddTensor({"", {}, kInt}), grown = writer.AddTensor({"", {2}});
  const int32_t shrunk = writer.AddTensor({"", {2}}), next = parts.Next();
  writer.AddOperator(kMul, {parts.v, parts.Number(0.5f)}, {shrunk});
  writer.AddOperator(kWhile, {parts.counter, shrunk}, {inner_turns, grown},
                     wire::CreateWhileOptions(writer.builder(), 3, 4));
  writer.EndSubgraph({parts.counter, parts.v}, {next, grown});  // 2
  parts.Begin();
  parts.EndCondition(600.0f);  // 3
  parts.EndBody(4.0f);         // 4
  return writer.FinishFile();
}

TEST(TfliteLoop, MayHoldALoopThatDataEnd) {
  const auto bytes = LoopInALoop();
  Result<Graph> graph = ReadTfliteModel(bytes);
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  // 3 -> 1.5 -> 6 ... 1536
  EXPECT_THAT(Reference(*graph, {1, 2}), ElementsAre(ElementsAre(1), ElementsAre(512, 1024)));
  EXPECT_THAT(OnTheCpu(*graph, {1, 2}), ElementsAre(1, 512, 1024));
}

// What was written out in vain leaves its values: 256 turns of each loop, not 256 of the inner one in each outer turn.
TEST(TfliteLoop, InALoopIsTriedOutOnce) {
  const auto bytes = LoopInALoop();
  Result<Graph> graph = ReadTfliteModel(bytes);
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_LT(graph->values().size(), 20 * 256);
}

TEST(TfliteLoop, MayHandOnAConstantOrAnotherValue) {
  TfliteWriter writer;
  AddLoop(writer);
  LoopParts parts(writer);
  parts.EndCondition(10.0f);
  const int32_t ten = writer.AddConstant<float>({"", {2}}, {10.0f, 20.0f});
  writer.EndSubgraph({parts.counter, parts.v}, {parts.counter, ten});
  const auto bytes = writer.FinishFile();
  Result<Graph> graph = ReadTfliteModel(bytes);
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_THAT(OnTheCpu(*graph, {1, 2}), ElementsAre(0, 10, 20));
}

TEST(TfliteLoop, WhoseValuesGrowIsRefusedWithBothShapes) {
  TfliteWriter writer;
  AddLoop(writer);
  LoopParts parts(writer);
  parts.EndCondition(1000.0f);
  const int32_t longer = writer.AddTensor({"", {4}}), next = parts.Next();
  writer.AddOperator(kConcatenation, {parts.v, parts.v}, {longer}, wire::CreateConcatenationOptions(writer.builder()));
  writer.EndSubgraph({parts.counter, parts.v}, {next, longer});
  const auto bytes = writer.FinishFile();
  EXPECT_THAT(RefusalOf(bytes), HasSubstr("of shape 4 of it"));
}

// How many steps over tensors and variables the reading of a doubling loop takes.
size_t StepsOfALoopAmong(int unused_tensors) {
  TfliteWriter writer;
  for (int k = 0; k < unused_tensors; ++k) writer.AddTensor({"unused", {2}});
  AddLoop(writer);
  LoopParts parts(writer);
  parts.EndCondition(1000.0f);
  parts.EndBody(2.0f);
  const auto bytes = writer.FinishFile();
  ReadingBudget budget(bytes.size());
  const Result<Graph> read = ReadTfliteModel(bytes, {}, budget);
  EXPECT_TRUE(read.ok()) << read.status().message();
  return ReadingBudget::kMaxSteps - budget.steps_left;
}

TEST(TfliteLoop, OnTheHostGoesThroughNoTensorsAroundIt) {
  EXPECT_EQ(StepsOfALoopAmong(1000), StepsOfALoopAmong(0));
}

TEST(TfliteLoop, MayHandOnOneValueTwice) {
  TfliteWriter writer;
  const int32_t x = writer.AddTensor({"x", {2}}), y = writer.AddTensor({"y", {2}}), z = writer.AddTensor({"z", {2}});
  writer.AddOperator(kWhile, {x, x}, {y, z}, wire::CreateWhileOptions(writer.builder(), 1, 2));
  writer.EndSubgraph({x}, {y, z});
  for (const bool is_body : {false, true}) {
    const int32_t v = writer.AddTensor({"v", {2}}), w = writer.AddTensor({"w", {2}});
    const int32_t total = writer.AddTensor({"", {}}), goes_on = writer.AddTensor({"", {}, kBool});
    const int32_t sum = writer.AddTensor({"", {2}});
    const auto options = wire::CreateReducerOptions(writer.builder(), false);
    if (is_body) {
      writer.AddOperator(kAdd, {v, w}, {sum});
    } else {
      writer.AddOperator(kSum, {w, writer.AddIntegers({0})}, {total}, options);
      writer.AddOperator(kLess, {total, writer.AddConstant<float>({"", {}}, {1000.0f})}, {goes_on});
    }
    writer.EndSubgraph({v, w}, is_body ? std::vector{sum, sum} : std::vector{goes_on});
  }
  const auto bytes = writer.FinishFile();
  const Result<Graph> graph = ReadTfliteModel(bytes);
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  ASSERT_TRUE(graph->Validate().ok()) << graph->Validate().message();
  EXPECT_THAT(Reference(*graph, {1, 2}), ElementsAre(ElementsAre(512, 1024), ElementsAre(512, 1024)));
}

}  // namespace
}  // namespace hearth
