#include "tests/testing/one_expansion.h"

#include <gtest/gtest.h>

#include "core/graph/evaluate.h"

namespace hearth {

std::string RefusalOf(const Result<Graph>& read) {
  if (!read.ok()) return std::string(read.status().message());
  for (const Node& node : read->nodes()) {
    if (const auto* op = std::get_if<UnknownOp>(&node.op)) return op->reason;
  }
  return "";
}

std::vector<std::vector<double>> OneExpansion::Evaluate(const Result<Graph>& read, const std::vector<double>& numbers) {
  EXPECT_TRUE(read.ok()) << read.status().message();
  if (!read.ok()) return {};
  Graph graph = read->Clone();
  const Status inferred = InferShapes(graph);
  EXPECT_TRUE(inferred.ok()) << inferred.message();
  ReferenceTensor input{graph.value(graph.inputs[0]).desc.shape, numbers};
  for (auto k = static_cast<int64_t>(numbers.size()) + 1; k <= input.shape.element_count(); ++k) {
    input.values.push_back(static_cast<double>(k));
  }
  Result<std::vector<ReferenceTensor>> outputs = EvaluateGraph(graph, {&input, 1});
  EXPECT_TRUE(outputs.ok()) << outputs.status().message();
  std::vector<std::vector<double>> values;
  if (!outputs.ok()) return values;
  for (const ReferenceTensor& output : *outputs) values.push_back(output.values);
  return values;
}

}  // namespace hearth
