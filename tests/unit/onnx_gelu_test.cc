// GELU as exporters of ONNX write it, from its error function.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/graph/evaluate.h"
#include "frontends/onnx/reader.h"
#include "tests/testing/onnx_writer.h"

namespace hearth {
namespace {

// x, the quotient, and whether the half is taken first.
std::vector<double> AnswersOf(float quotient, bool is_half_first, int64_t& gelus) {
  OnnxGraph graph;
  graph.Input("x", {"3"}).Output("y").Floats("root", {}, {quotient}).Floats("one", {}, {1}).Floats("half", {}, {0.5});
  graph.Node("Div", {"x", "root"}, {"v"}).Node("Erf", {"v"}, {"e"}).Node("Add", {"e", "one"}, {"s"});
  if (is_half_first) {
    graph.Node("Mul", {"x", "half"}, {"h"}).Node("Mul", {"h", "s"}, {"y"});
  } else {
    graph.Node("Mul", {"x", "s"}, {"p"}).Node("Mul", {"p", "half"}, {"y"});
  }
  const std::string file = OnnxFile(graph);
  const Result<Graph> read = ReadOnnxModel(std::as_bytes(std::span(file)), {});
  EXPECT_TRUE(read.ok()) << read.status().message();
  if (!read.ok()) return {};
  gelus = std::ranges::count_if(read->nodes(), [](const Node& node) {
    const auto* unary = std::get_if<Unary>(&node.op);
    return unary != nullptr && unary->kind == UnaryKind::kGelu;
  });
  const ReferenceTensor x{{3}, {-1.5, 0.01, 2}};
  const auto answers = EvaluateGraph(*read, std::span(&x, 1));
  EXPECT_TRUE(answers.ok()) << answers.status().message();
  return answers.ok() ? (*answers)[0].values : std::vector<double>();
}

// As most exporters of PyTorch write it.
TEST(OnnxGelu, IsNotDoubledToBeHalved) {
  OnnxGraph graph;
  graph.Input("x", {"3"}).Output("z").Floats("root", {}, {1.4142135f}).Floats("one", {}, {1}).Floats("half", {}, {0.5});
  graph.Node("Div", {"x", "root"}, {"v"}).Node("Erf", {"v"}, {"e"}).Node("Add", {"e", "one"}, {"s"});
  graph.Node("Mul", {"x", "s"}, {"p"}).Node("Mul", {"p", "half"}, {"y"}).Node("Relu", {"y"}, {"z"});
  const std::string file = OnnxFile(graph);
  const Result<Graph> read = ReadOnnxModel(std::as_bytes(std::span(file)), {});
  ASSERT_TRUE(read.ok()) << read.status().message();
  const Node& last = read->nodes().back();
  const int maker = read->ProducerOf(last.inputs[0]);
  ASSERT_GE(maker, 0);
  const auto* gelu = std::get_if<Unary>(&read->nodes()[static_cast<size_t>(maker)].op);
  ASSERT_NE(gelu, nullptr);
  EXPECT_EQ(gelu->kind, UnaryKind::kGelu);
}

TEST(OnnxGelu, IsOneOperationInBothOrders) {
  for (const bool is_half_first : {false, true}) {
    int64_t gelus = 0;
    const std::vector<double> answers = AnswersOf(1.4142135f, is_half_first, gelus);
    EXPECT_EQ(gelus, 2) << is_half_first;  // another is in what the error function was, of which nothing is read
    ASSERT_EQ(answers.size(), 3u);
    for (size_t k = 0; k < 3; ++k) {
      const double x = std::vector{-1.5, 0.01, 2.0}[k];
      EXPECT_NEAR(answers[k], x * 0.5 * (1 + std::erf(x / std::sqrt(2.0))), 1e-6);
    }
  }
}

TEST(OnnxGelu, IsNotTakenForAnotherQuotient) {
  int64_t gelus = 0;
  const std::vector<double> answers = AnswersOf(1.5f, false, gelus);
  EXPECT_EQ(gelus, 1);
  ASSERT_EQ(answers.size(), 3u);
  EXPECT_NEAR(answers[2], 1 + std::erf(2 / 1.5), 1e-6);
}

}  // namespace
}  // namespace hearth
