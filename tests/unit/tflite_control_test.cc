// Operators that call other subgraphs, which the reader writes into the one graph: IF, WHILE, CALL.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "core/graph/evaluate.h"
#include "frontends/tflite/reader.h"
#include "frontends/writer/budget.h"
#include "tests/testing/builtin_codes.h"
#include "tests/testing/tflite_writer.h"

namespace hearth {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A counter and a tensor go around: subgraphs 1 (condition) and 2 (body) of a model whose subgraph 0 comes first.
class LoopModel {
 public:
  explicit LoopModel(int32_t turns) : turns_(turns) {
    x = writer.AddTensor({"x", {2}});
    const int32_t zero = writer.AddConstant<int32_t>({"zero", {}, kInt}, {0});
    counter = writer.AddTensor({"counted", {}, kInt});
    y = writer.AddTensor({"y", {2}});
    writer.AddOperator(kWhile, {zero, x}, {counter, y}, wire::CreateWhileOptions(writer.builder(), 1, 2));
  }
  // Ends the model's own subgraph and writes "counter < turns".
  void AddCondition() {
    const int32_t i = writer.AddTensor({"i", {}, kInt}), v = writer.AddTensor({"v", {2}});
    const int32_t goes_on = writer.AddTensor({"goes_on", {}, kBool});
    writer.AddOperator(kLess, {i, writer.AddConstant<int32_t>({"", {}, kInt}, {turns_})}, {goes_on});
    writer.EndSubgraph({i, v}, {goes_on});
  }
  // "counter + 1, 2 * v".
  void AddBody() {
    const int32_t i = writer.AddTensor({"i", {}, kInt}), v = writer.AddTensor({"v", {2}});
    const int32_t next = writer.AddTensor({"next", {}, kInt}), doubled = writer.AddTensor({"doubled", {2}});
    writer.AddOperator(kAdd, {i, writer.AddConstant<int32_t>({"one", {}, kInt}, {1})}, {next});
    writer.AddOperator(kMul, {v, writer.AddConstant<float>({"two", {}}, {2.0f})}, {doubled});
    writer.EndSubgraph({i, v}, {next, doubled});
  }
  std::vector<std::byte> Finish() {
    writer.EndSubgraph({x}, {y});
    AddCondition();
    AddBody();
    return writer.FinishFile();
  }

  TfliteWriter writer;
  int32_t x, y, counter;

 private:
  int32_t turns_;
};

std::vector<double> Answer(const Graph& graph, std::vector<double> x) {
  const ReferenceTensor input{graph.value(graph.inputs[0]).desc.shape, std::move(x)};
  Result<std::vector<ReferenceTensor>> outputs = EvaluateGraph(graph, {&input, 1});
  EXPECT_TRUE(outputs.ok()) << outputs.status().message();
  return outputs.ok() ? outputs.value()[0].values : std::vector<double>();
}

const UnknownOp* UnknownOf(const Graph& graph) {
  const auto found = std::find_if(graph.nodes().begin(), graph.nodes().end(),
                                  [](const Node& node) { return std::holds_alternative<UnknownOp>(node.op); });
  return found == graph.nodes().end() ? nullptr : &std::get<UnknownOp>(found->op);
}

TEST(TfliteControl, ALoopOfAKnownNumberOfTurnsIsWrittenOut) {
  const auto bytes = LoopModel(3).Finish();
  Result<Graph> graph = ReadTfliteModel(bytes);
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  ASSERT_TRUE(graph->Validate().ok()) << graph->Validate().message();
  EXPECT_THAT(Answer(*graph, {1, -0.5}), ElementsAre(8, -4));
  const auto products = std::count_if(graph->nodes().begin(), graph->nodes().end(),
                                      [](const Node& node) { return std::holds_alternative<Binary>(node.op); });
  EXPECT_EQ(products, 3);  // the counter is folded
  for (const Node& node : graph->nodes()) EXPECT_EQ(node.source_index, 0);
}

TEST(TfliteControl, AnOutputOfALoopKeepsTheModelsName) {
  const auto bytes = LoopModel(2).Finish();
  Result<Graph> graph = ReadTfliteModel(bytes);
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_EQ(graph->value(graph->outputs[0]).name, "y");
}

TEST(TfliteControl, ALoopWithoutTurnsGivesWhatItWasGiven) {
  const auto bytes = LoopModel(0).Finish();
  Result<Graph> graph = ReadTfliteModel(bytes);
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_THAT(Answer(*graph, {1, 2}), ElementsAre(1, 2));
}

TEST(TfliteControl, AConstantOfALoopsBodyIsOneValueInAllTurns) {
  const auto bytes = LoopModel(50).Finish();
  Result<Graph> graph = ReadTfliteModel(bytes);
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_EQ(graph->nodes()[0].inputs[1], graph->nodes()[49].inputs[1]);
}

TEST(TfliteControl, ALoopThatIsTooLongToBeWrittenOutStaysOne) {
  const auto bytes = LoopModel(25'000).Finish();
  Result<Graph> graph = ReadTfliteModel(bytes);
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  ASSERT_TRUE(graph->Validate().ok()) << graph->Validate().message();
  EXPECT_TRUE(std::holds_alternative<Loop>(graph->nodes()[0].op)) << graph->nodes().size();
  EXPECT_THAT(Answer(*graph, {0, 1}), ElementsAre(0, std::numeric_limits<double>::infinity()));
}

TEST(TfliteControl, TurnsThatAreTooManyAreCountedAndNotWrittenOutFirst) {
  const auto bytes = LoopModel(40'000).Finish();
  Result<Graph> graph = ReadTfliteModel(bytes);
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_TRUE(std::holds_alternative<Loop>(graph->nodes()[0].op)) << graph->nodes().size();
  EXPECT_LT(graph->values().size(), 200u);  // of a few turns, not of 33,000
}

// "counter < 5 and sum(v) < 20", where the body doubles v.
TEST(TfliteControl, ALoopThatDataEndWithinABoundStopsWhereTheySay) {
  LoopModel model(5);
  TfliteWriter& writer = model.writer;
  writer.EndSubgraph({model.x}, {model.y});
  const int32_t i = writer.AddTensor({"i", {}, kInt}), v = writer.AddTensor({"v", {2}});
  const int32_t counts = writer.AddTensor({"", {}, kBool}), total = writer.AddTensor({"", {}});
  const int32_t is_small = writer.AddTensor({"", {}, kBool}), goes_on = writer.AddTensor({"", {}, kBool});
  writer.AddOperator(kLess, {i, writer.AddConstant<int32_t>({"", {}, kInt}, {5})}, {counts});
  writer.AddOperator(kSum, {v, writer.AddIntegers({0})}, {total}, wire::CreateReducerOptions(writer.builder(), false));
  writer.AddOperator(kLess, {total, writer.AddConstant<float>({"", {}}, {20.0f})}, {is_small});
  writer.AddOperator(kLogicalAnd, {counts, is_small}, {goes_on});
  writer.EndSubgraph({i, v}, {goes_on});
  model.AddBody();
  const auto bytes = writer.FinishFile();
  Result<Graph> graph = ReadTfliteModel(bytes);
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_THAT(Answer(*graph, {1, 2}), ElementsAre(8, 16));  // 3, 6, 12, 24
  EXPECT_THAT(Answer(*graph, {0.1, 0.1}),
              ElementsAre(::testing::DoubleNear(3.2, 1e-6), ::testing::DoubleNear(3.2, 1e-6)));
  EXPECT_THAT(Answer(*graph, {30, 0}), ElementsAre(30, 0));
}

// v becomes v with its first element once more, the shape of which the file can't say.
TEST(TfliteControl, WhatGoesAroundMayGrow) {
  TfliteWriter writer;
  const int32_t x = writer.AddTensor({"x", {1}}), y = writer.AddTensor({"y", {}});
  const int32_t zero = writer.AddConstant<int32_t>({"zero", {}, kInt}, {0});
  writer.AddOperator(kWhile, {zero, x}, {writer.AddTensor({"", {}, kInt}), y},
                     wire::CreateWhileOptions(writer.builder(), 1, 2));
  writer.EndSubgraph({x}, {y});
  int32_t i = writer.AddTensor({"i", {}, kInt}), v = writer.AddTensor({"v", {}});
  const int32_t goes_on = writer.AddTensor({"", {}, kBool});
  writer.AddOperator(kLess, {i, writer.AddConstant<int32_t>({"", {}, kInt}, {3})}, {goes_on});
  writer.EndSubgraph({i, v}, {goes_on});
  i = writer.AddTensor({"i", {}, kInt}), v = writer.AddTensor({"v", {}});
  const int32_t next = writer.AddTensor({"", {}, kInt}), first = writer.AddTensor({"", {1}});
  const int32_t longer = writer.AddTensor({"", {}});
  writer.AddOperator(kAdd, {i, writer.AddConstant<int32_t>({"", {}, kInt}, {1})}, {next});
  writer.AddOperator(kSlice, {v, writer.AddIntegers({0}), writer.AddIntegers({1})}, {first});
  writer.AddOperator(kConcatenation, {v, first}, {longer}, wire::CreateConcatenationOptions(writer.builder(), 0));
  writer.EndSubgraph({i, v}, {next, longer});
  const auto bytes = writer.FinishFile();
  Result<Graph> graph = ReadTfliteModel(bytes);
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_THAT(Answer(*graph, {7}), ElementsAre(7, 7, 7, 7));
}

// What TensorFlow's lists become: at each turn the items before, the new one, and those after.
TEST(TfliteControl, AListIsWrittenFromItsFirstItemToItsLast) {
  TfliteWriter writer;
  const int32_t x = writer.AddTensor({"x", {1, 2}}), y = writer.AddTensor({"y", {2, 2}});
  const int32_t zero = writer.AddConstant<int32_t>({"zero", {}, kInt}, {0});
  const int32_t list = writer.AddConstant<float>({"list", {2, 2}}, {0, 0, 0, 0});
  writer.AddOperator(kWhile, {zero, x, list}, {writer.AddTensor({"", {}, kInt}), writer.AddTensor({"", {1, 2}}), y},
                     wire::CreateWhileOptions(writer.builder(), 1, 2));
  writer.EndSubgraph({x}, {y});
  const auto arguments = [&] {
    return std::vector<int32_t>{writer.AddTensor({"i", {}, kInt}), writer.AddTensor({"v", {1, 2}}),
                                writer.AddTensor({"l", {2, 2}})};
  };
  std::vector<int32_t> in = arguments();
  const int32_t goes_on = writer.AddTensor({"", {}, kBool});
  writer.AddOperator(kLess, {in[0], writer.AddConstant<int32_t>({"", {}, kInt}, {2})}, {goes_on});
  writer.EndSubgraph(in, {goes_on});
  in = arguments();
  const int32_t next = writer.AddTensor({"", {}, kInt}), doubled = writer.AddTensor({"", {1, 2}});
  const int32_t until = writer.AddTensor({"", {1}, kInt}), size = writer.AddTensor({"", {2}, kInt});
  const int32_t from = writer.AddTensor({"", {1}, kInt}), begin = writer.AddTensor({"", {2}, kInt});
  const int32_t before = writer.AddTensor({.name = "", .shape = {1, 1}, .shape_signature = {-1, -1}});
  const int32_t after = writer.AddTensor({.name = "", .shape = {1, 1}, .shape_signature = {-1, -1}});
  const int32_t written = writer.AddTensor({"", {2, 2}});
  const auto along = [&] { return wire::CreateConcatenationOptions(writer.builder(), 0); };
  writer.AddOperator(kAdd, {in[0], writer.AddConstant<int32_t>({"", {}, kInt}, {1})}, {next});
  writer.AddOperator(kMul, {in[1], writer.AddConstant<float>({"", {}}, {2.0f})}, {doubled});
  writer.AddOperator(kReshape, {in[0], writer.AddIntegers({1})}, {until});
  writer.AddOperator(kConcatenation, {until, writer.AddIntegers({-1})}, {size}, along());
  writer.AddOperator(kSlice, {in[2], writer.AddIntegers({0, 0}), size}, {before});
  writer.AddOperator(kReshape, {next, writer.AddIntegers({1})}, {from});
  writer.AddOperator(kConcatenation, {from, writer.AddIntegers({0})}, {begin}, along());
  writer.AddOperator(kSlice, {in[2], begin, writer.AddIntegers({-1, -1})}, {after});
  writer.AddOperator(kConcatenation, {before, doubled, after}, {written}, along());
  writer.EndSubgraph(in, {next, doubled, written});
  const auto bytes = writer.FinishFile();
  Result<Graph> graph = ReadTfliteModel(bytes);
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_THAT(Answer(*graph, {1, 2}), ElementsAre(2, 4, 4, 8));
}

// y = condition ? x + 10 : 3 * x, in subgraphs 1 and 2.
std::vector<std::byte> Branches(TfliteWriter& writer, int32_t x, int32_t condition, int32_t y,
                                const std::vector<int32_t>& shape_if_true = {2}) {
  writer.AddOperator(kIf, {condition, x}, {y}, wire::CreateIfOptions(writer.builder(), 1, 2));
  writer.EndSubgraph({x}, {y});
  int32_t v = writer.AddTensor({"v", {2}});
  int32_t made = writer.AddTensor({"made", {2}});
  writer.AddOperator(kAdd, {v, writer.AddConstant<float>({"", {}}, {10.0f})}, {made});
  if (shape_if_true != std::vector<int32_t>{2}) {
    const int32_t other = writer.AddTensor({"other", shape_if_true});
    writer.AddOperator(kReshape, {made, writer.AddIntegers(shape_if_true)}, {other});
    made = other;
  }
  writer.EndSubgraph({v}, {made});
  v = writer.AddTensor({"v", {2}});
  made = writer.AddTensor({"made", {2}});
  writer.AddOperator(kMul, {v, writer.AddConstant<float>({"", {}}, {3.0f})}, {made});
  writer.EndSubgraph({v}, {made});
  return writer.FinishFile();
}

TEST(TfliteControl, AConstantConditionTakesItsBranch) {
  for (const bool condition : {true, false}) {
    TfliteWriter writer;
    const int32_t x = writer.AddTensor({"x", {2}}), y = writer.AddTensor({"y", {2}});
    const auto bytes = Branches(writer, x, writer.AddConstant<uint8_t>({"", {}, kBool}, {condition}), y);
    Result<Graph> graph = ReadTfliteModel(bytes);
    ASSERT_TRUE(graph.ok()) << graph.status().message();
    EXPECT_EQ(graph->nodes().size(), 2u);  // with the copy to the output
    EXPECT_THAT(Answer(*graph, {1, 2}), condition ? ElementsAre(11, 12) : ElementsAre(3, 6));
  }
}

TEST(TfliteControl, AComputedConditionChoosesBetweenBothBranches) {
  for (const std::vector<int32_t>& shape : {std::vector<int32_t>{}, {1}}) {
    TfliteWriter writer;
    const int32_t x = writer.AddTensor({"x", {2}}), y = writer.AddTensor({"y", {2}});
    const int32_t total = writer.AddTensor({"total", shape}), is_small = writer.AddTensor({"", shape, kBool});
    writer.AddOperator(kSum, {x, writer.AddIntegers({0})}, {total},
                       wire::CreateReducerOptions(writer.builder(), !shape.empty()));
    writer.AddOperator(kLess, {total, writer.AddConstant<float>({"", {}}, {5.0f})}, {is_small});
    const auto bytes = Branches(writer, x, is_small, y);
    Result<Graph> graph = ReadTfliteModel(bytes);
    ASSERT_TRUE(graph.ok()) << graph.status().message();
    EXPECT_THAT(Answer(*graph, {1, 2}), ElementsAre(11, 12));
    EXPECT_THAT(Answer(*graph, {4, 2}), ElementsAre(12, 6));
  }
}

TEST(TfliteControl, ACompositeIsTheSubgraphThatExplainsIt) {
  TfliteWriter writer;
  const int32_t x = writer.AddTensor({"x", {2}}), y = writer.AddTensor({"y", {2}});
  writer.AddComposite(1, {x}, {y});
  writer.EndSubgraph({x}, {y});
  const int32_t v = writer.AddTensor({"v", {2}}), twice = writer.AddTensor({"twice", {2}});
  writer.AddOperator(kAdd, {v, v}, {twice});
  writer.EndSubgraph({v}, {twice});
  const auto bytes = writer.FinishFile();
  Result<Graph> graph = ReadTfliteModel(bytes);
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_THAT(Answer(*graph, {1, -3}), ElementsAre(2, -6));
}

TEST(TfliteControl, BranchesOfDifferentShapesAreRefusedWithBothShapes) {
  TfliteWriter writer;
  const int32_t x = writer.AddTensor({"x", {2}}), y = writer.AddTensor({"y", {2}});
  const int32_t total = writer.AddTensor({"total", {}}), is_small = writer.AddTensor({"", {}, kBool});
  writer.AddOperator(kSum, {x, writer.AddIntegers({0})}, {total}, wire::CreateReducerOptions(writer.builder(), false));
  writer.AddOperator(kLess, {total, writer.AddConstant<float>({"", {}}, {5.0f})}, {is_small});
  const auto bytes = Branches(writer, x, is_small, y, {2, 1});
  Result<Graph> graph = ReadTfliteModel(bytes);
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  ASSERT_NE(UnknownOf(*graph), nullptr);
  EXPECT_THAT(UnknownOf(*graph)->reason, ::testing::AllOf(HasSubstr("2x1"), HasSubstr("same shape")));
  EXPECT_TRUE(graph->Validate().ok()) << graph->Validate().message();
}

// A model whose WHILE is called with `condition` and `body` as subgraphs.
std::vector<std::byte> OneLoop(int32_t condition, int32_t body) {
  TfliteWriter writer;
  const int32_t x = writer.AddTensor({"x", {2}}), y = writer.AddTensor({"y", {2}});
  writer.AddOperator(kWhile, {x}, {y}, wire::CreateWhileOptions(writer.builder(), condition, body));
  writer.EndSubgraph({x}, {y});
  writer.EndSubgraph({}, {writer.AddConstant<uint8_t>({"", {}, kBool}, {1})});  // 1: no input
  writer.EndSubgraph({writer.AddTensor({"v", {2}})}, {});                       // 2: no output
  writer.EndSubgraph({writer.AddTensor({"v", {2}, kInt})}, {writer.AddConstant<uint8_t>({"", {}, kBool}, {1})});  // 3
  const int32_t v = writer.AddTensor({"v", {2}});
  writer.EndSubgraph({v}, {v});  // 4: no bool
  writer.EndSubgraph({writer.AddTensor({"v", {2}})}, {writer.AddConstant<uint8_t>({"", {}, kBool}, {1})});  // 5
  const int32_t image = writer.AddTensor({"v", {2}}), places = writer.AddTensor({"", {2, 1}, wire::TensorType_INT64});
  writer.AddOperator(kLshProjection, {image}, {places});
  writer.EndSubgraph({image}, {image});  // 6: LSH_PROJECTION
  return writer.FinishFile();
}

TEST(TfliteControl, CallsThatBreakTheRulesOfTheFormatAreErrorsThatSayWhat) {
  const auto error_of = [](int32_t condition, int32_t body) {
    const auto bytes = OneLoop(condition, body);
    const Result<Graph> graph = ReadTfliteModel(bytes);
    EXPECT_EQ(graph.status().code(), StatusCode::kMalformedInput) << condition << " " << body;
    return std::string(graph.status().message());
  };
  EXPECT_THAT(error_of(0, 4), HasSubstr("calls itself"));
  EXPECT_THAT(error_of(99, 4), HasSubstr("subgraph 99"));
  EXPECT_THAT(error_of(-1, 4), HasSubstr("subgraph -1"));
  EXPECT_THAT(error_of(1, 4), HasSubstr("1 tensors to 0 inputs"));
  EXPECT_THAT(error_of(2, 4), HasSubstr("0 outputs"));
  EXPECT_THAT(error_of(3, 4), HasSubstr("int32"));
  EXPECT_THAT(error_of(4, 4), HasSubstr("not one bool"));
  EXPECT_THAT(error_of(5, 2), HasSubstr("0 tensors of 1"));
}

TEST(TfliteControl, ALoopThatNeverEndsIsRefused) {
  const auto bytes = OneLoop(5, 4);
  Result<Graph> graph = ReadTfliteModel(bytes);
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  ASSERT_NE(UnknownOf(*graph), nullptr);
}

TEST(TfliteControl, AnOperatorThatABodyHoldsAndHearthHasNotIsNamed) {
  const auto bytes = OneLoop(5, 6);
  Result<Graph> graph = ReadTfliteModel(bytes);
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  ASSERT_NE(UnknownOf(*graph), nullptr);
  EXPECT_THAT(UnknownOf(*graph)->reason, ::testing::AllOf(HasSubstr("subgraph 6"), HasSubstr("LSH_PROJECTION")));
  EXPECT_EQ(graph->nodes().size(), 1u);
}

TEST(TfliteControl, AnOperatorWithoutOptionsIsRefused) {
  TfliteWriter writer;
  const int32_t x = writer.AddTensor({"x", {2}}), y = writer.AddTensor({"y", {2}});
  writer.AddOperator(kWhile, {x}, {y});
  const auto bytes = writer.Finish({x}, {y});
  Result<Graph> graph = ReadTfliteModel(bytes);
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  ASSERT_NE(UnknownOf(*graph), nullptr);
}

TEST(TfliteControl, ACallStandsInItsPlace) {
  TfliteWriter writer;
  const int32_t x = writer.AddTensor({"x", {2}}), y = writer.AddTensor({"y", {2}});
  const int32_t middle = writer.AddTensor({"middle", {2}});
  writer.AddOperator(kCall, {x}, {middle}, wire::CreateCallOptions(writer.builder(), 1));
  writer.AddOperator(kCall, {middle}, {y}, wire::CreateCallOptions(writer.builder(), 1));
  writer.EndSubgraph({x}, {y});
  const int32_t v = writer.AddTensor({"v", {2}}), squared = writer.AddTensor({"", {2}});
  writer.AddOperator(kMul, {v, v}, {squared});
  writer.EndSubgraph({v}, {squared});
  const auto bytes = writer.FinishFile();
  Result<Graph> graph = ReadTfliteModel(bytes);
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_THAT(Answer(*graph, {2, 3}), ElementsAre(16, 81));
}

// The outer loop's two turns hold an inner loop of 3 turns that doubles.
TEST(TfliteControl, LoopsMayStandInLoops) {
  TfliteWriter writer;
  const int32_t x = writer.AddTensor({"x", {2}}), y = writer.AddTensor({"y", {2}});
  const int32_t zero = writer.AddConstant<int32_t>({"", {}, kInt}, {0});
  writer.AddOperator(kWhile, {zero, x}, {writer.AddTensor({"", {}, kInt}), y},
                     wire::CreateWhileOptions(writer.builder(), 1, 2));
  writer.EndSubgraph({x}, {y});
  for (const int32_t turns : {2, 3}) {  // conditions 1 and 3, bodies 2 and 4
    int32_t i = writer.AddTensor({"i", {}, kInt}), v = writer.AddTensor({"v", {2}});
    const int32_t goes_on = writer.AddTensor({"", {}, kBool});
    writer.AddOperator(kLess, {i, writer.AddConstant<int32_t>({"", {}, kInt}, {turns})}, {goes_on});
    writer.EndSubgraph({i, v}, {goes_on});
    i = writer.AddTensor({"i", {}, kInt}), v = writer.AddTensor({"v", {2}});
    const int32_t next = writer.AddTensor({"", {}, kInt}), made = writer.AddTensor({"", {2}});
    writer.AddOperator(kAdd, {i, writer.AddConstant<int32_t>({"", {}, kInt}, {1})}, {next});
    if (turns == 2) {
      writer.AddOperator(kWhile, {writer.AddConstant<int32_t>({"", {}, kInt}, {0}), v},
                         {writer.AddTensor({"", {}, kInt}), made}, wire::CreateWhileOptions(writer.builder(), 3, 4));
    } else {
      writer.AddOperator(kMul, {v, writer.AddConstant<float>({"", {}}, {2.0f})}, {made});
    }
    writer.EndSubgraph({i, v}, {next, made});
  }
  const auto bytes = writer.FinishFile();
  Result<Graph> graph = ReadTfliteModel(bytes);
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_THAT(Answer(*graph, {1, 3}), ElementsAre(64, 192));
}

}  // namespace
}  // namespace hearth
