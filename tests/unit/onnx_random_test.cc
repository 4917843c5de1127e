// ONNX's operators that draw numbers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "core/graph/evaluate.h"
#include "frontends/onnx/reader.h"
#include "tests/testing/onnx_writer.h"

namespace hearth {
namespace {

using ::testing::AllOf;
using ::testing::DoubleNear;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Ge;
using ::testing::HasSubstr;
using ::testing::Lt;

using Values = std::vector<double>;

Result<Graph> ReadDrawing(OnnxGraph& graph) {
  const std::string file = OnnxFile(graph);
  return ReadOnnxModel(std::as_bytes(std::span(file)));
}

// What output 0 holds after each of some runs on zeros.
std::vector<Values> RunsOf(OnnxGraph graph, int type, size_t runs) {
  graph.Output("y", type);
  const Result<Graph> read = ReadDrawing(graph);
  EXPECT_TRUE(read.ok()) << read.status().message();
  std::vector<ReferenceTensor> inputs, states;
  for (const ValueId input : read->inputs) {
    const Shape& shape = read->value(input).desc.shape;
    inputs.push_back({shape, Values(static_cast<size_t>(shape.element_count()))});
  }
  std::vector<Values> made;
  for (size_t run = 0; run < runs; ++run) {
    const auto outputs = EvaluateGraph(*read, inputs, &states);
    EXPECT_TRUE(outputs.ok()) << outputs.status().message();
    made.push_back((*outputs)[0].values);
  }
  return made;
}

double MeanOf(const Values& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

OnnxGraph Drawing(const std::string& op, const std::vector<std::string>& attributes) {
  OnnxGraph graph;
  graph.Node(op, {}, {"y"}, attributes);
  return graph;
}

TEST(OnnxRandom, NumbersFollowTheirLaw) {
  const std::string shape = OnnxGraph::Integers("shape", {20, 300});
  const Values uniform = RunsOf(Drawing("RandomUniform", {shape}), 1, 1)[0];
  EXPECT_EQ(uniform.size(), 6000u);
  EXPECT_THAT(uniform, Each(AllOf(Ge(0.0), Lt(1.0))));
  EXPECT_THAT(MeanOf(uniform), DoubleNear(0.5, 5 / std::sqrt(12.0 * 6000)));  // five standard deviations of the mean
  Values normal = RunsOf(Drawing("RandomNormal", {shape}), 1, 1)[0];
  EXPECT_THAT(MeanOf(normal), DoubleNear(0.0, 5 / std::sqrt(6000.0)));
  for (double& value : normal) value *= value;
  EXPECT_THAT(MeanOf(normal), DoubleNear(1.0, 5 * std::sqrt(2.0 / 6000)));
}

TEST(OnnxRandom, EachRunGoesOnAndEachStartBeginsAnew) {
  const OnnxGraph graph = Drawing("RandomNormal", {OnnxGraph::Integers("shape", {8})});
  const std::vector<Values> first = RunsOf(graph, 1, 2), second = RunsOf(graph, 1, 2);
  EXPECT_NE(first[0], first[1]);
  EXPECT_EQ(first, second);
}

TEST(OnnxRandom, TwoNodesDrawTheirOwnNumbers) {
  OnnxGraph graph;
  graph.Input("x", {"16"}).Node("RandomNormalLike", {"x"}, {"a"}).Node("RandomNormalLike", {"x"}, {"b"});
  graph.Node("Sub", {"a", "b"}, {"y"});
  EXPECT_THAT(RunsOf(graph, 1, 1)[0], ::testing::Not(::testing::Contains(0.0)));
}

TEST(OnnxRandom, ChancesOfNothingAndOfAllAreCertain) {
  OnnxGraph chances, classes;
  chances.Floats("p", {4}, {0, 1, 0, 1}).Node("Bernoulli", {"p"}, {"y"}, {OnnxGraph::Integer("dtype", 7)});
  EXPECT_THAT(RunsOf(chances, 7, 1)[0], ElementsAre(0, 1, 0, 1));
  classes.Floats("shares", {2, 3}, {-1e9f, 0, -1e9f, -1e9f, -1e9f, 2});
  classes.Node("Multinomial", {"shares"}, {"y"}, {OnnxGraph::Integer("sample_size", 3)});
  EXPECT_THAT(RunsOf(classes, 6, 1)[0], ElementsAre(1, 1, 1, 2, 2, 2));
}

TEST(OnnxRandom, ImpossibleSizesAreRefused) {
  OnnxGraph graph = Drawing("RandomUniform", {OnnxGraph::Integers("shape", {1 << 20, 1 << 20})});
  graph.Output("y");
  EXPECT_THAT(ReadDrawing(graph).status().message(), HasSubstr("a size of 1048576"));
}

}  // namespace
}  // namespace hearth
