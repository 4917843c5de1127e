// Attention of com.microsoft in forms that onnxruntime's CPU provider lacks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "core/graph/evaluate.h"
#include "frontends/onnx/reader.h"
#include "tests/testing/onnx_writer.h"

namespace hearth {
namespace {

using ::testing::DoubleNear;
using ::testing::Pointwise;

constexpr int kQueryCount = 3, kHeadSize = 4;  // of two heads of queries and one of keys

std::vector<double> SeededNumbers(size_t count) {
  std::mt19937 generator(static_cast<uint32_t>(count));
  std::uniform_real_distribution<double> numbers(-1, 1);
  std::vector<double> made(count);
  for (double& number : made) number = static_cast<float>(numbers(generator));
  return made;
}

// Each head of `x` divided by its root mean square and multiplied by the weights.
std::vector<double> NormedHeads(std::vector<double> x, const std::vector<float>& weights, double epsilon) {
  for (size_t first = 0; first < x.size(); first += kHeadSize) {
    double squares = 0;
    for (size_t k = 0; k < kHeadSize; ++k) squares += x[first + k] * x[first + k];
    for (size_t k = 0; k < kHeadSize; ++k) x[first + k] *= weights[k] / std::sqrt(squares / kHeadSize + epsilon);
  }
  return x;
}

std::vector<double> Attended(bool has_norms, const std::vector<float>& of_queries, const std::vector<float>& of_keys,
                             const std::vector<ReferenceTensor>& inputs) {
  OnnxGraph graph;
  graph.Input("q", {"1", "3", "8"}).Input("k", {"1", "3", "4"}).Input("v", {"1", "3", "4"}).Output("y");
  const int32_t less = kQueryCount - 1, total = kQueryCount;
  const auto whole = [](const int32_t& number) { return std::string_view(reinterpret_cast<const char*>(&number), 4); };
  graph.Stored("less", {1}, 6, whole(less)).Stored("total", {}, 6, whole(total));
  std::vector<std::string> operands = {"q", "k", "v", "", "", "less", "total"};
  std::vector<std::string> attributes = {OnnxGraph::Integer("num_heads", 2), OnnxGraph::Integer("kv_num_heads", 1)};
  if (has_norms) {
    graph.Floats("nq", {kHeadSize}, of_queries).Floats("nk", {kHeadSize}, of_keys);
    operands.resize(14);
    operands.insert(operands.end(), {"nq", "nk"});
    attributes.push_back(OnnxGraph::Real("qk_norm_epsilon", 0.01f));
  }
  graph.Node("GroupQueryAttention", operands, {"y"}, attributes, "com.microsoft");
  const std::string file = OnnxFile(graph);
  const Result<Graph> read = ReadOnnxModel(std::as_bytes(std::span(file)));
  EXPECT_TRUE(read.ok()) << read.status().message();
  if (!read.ok()) return {};
  const auto answers = EvaluateGraph(*read, inputs);
  EXPECT_TRUE(answers.ok()) << answers.status().message();
  return answers.ok() ? (*answers)[0].values : std::vector<double>();
}

TEST(OnnxAttention, QueriesAndKeysAreNormedHeadByHead) {
  const std::vector<double> q = SeededNumbers(24), k = SeededNumbers(12), v = SeededNumbers(13);
  const std::vector<float> of_queries = {1, 0.5f, -2, 1.5f}, of_keys = {0.25f, 1, 1, -1};
  const std::vector<double> values(v.begin(), v.begin() + 12);
  const auto inputs = [&](const std::vector<double>& queries, const std::vector<double>& keys) {
    return std::vector<ReferenceTensor>{{{1, 3, 8}, queries}, {{1, 3, 4}, keys}, {{1, 3, 4}, values}};
  };
  const auto expected =
      Attended(false, {}, {}, inputs(NormedHeads(q, of_queries, 0.01), NormedHeads(k, of_keys, 0.01)));
  EXPECT_THAT(Attended(true, of_queries, of_keys, inputs(q, k)), Pointwise(DoubleNear(1e-5), expected));
}

}  // namespace
}  // namespace hearth
