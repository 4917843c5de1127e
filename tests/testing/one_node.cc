#include "tests/testing/one_node.h"

#include <gtest/gtest.h>

#include "core/graph/evaluate.h"

namespace hearth::testing {

Graph OneNode(Op op, const std::vector<NodeInput>& inputs, const std::vector<DType>& outputs) {
  Graph graph;
  for (const NodeInput& input : inputs) {
    graph.inputs.push_back(graph.AddValue({.name = "in", .desc = {.dtype = input.dtype, .shape = input.shape}}));
  }
  for (DType dtype : outputs) graph.outputs.push_back(graph.AddValue({.name = "out", .desc = {.dtype = dtype}}));
  graph.AddNode({.op = std::move(op), .inputs = graph.inputs, .outputs = graph.outputs, .name = "n"});
  return graph;
}

std::string InferredShape(Op op, const std::vector<NodeInput>& inputs, const std::vector<DType>& outputs) {
  Graph graph = OneNode(std::move(op), inputs, outputs);
  const Status status = InferShapes(graph);
  return status.ok() ? graph.value(graph.outputs[0]).desc.shape.ToString() : status.message();
}

std::vector<NodeInput> InputsOf(const std::vector<Shape>& shapes) {
  std::vector<NodeInput> inputs;
  for (const Shape& shape : shapes) inputs.push_back({shape, {}});
  return inputs;
}

std::string FirstShape(Op op, const std::vector<Shape>& shapes, int outputs) {
  return InferredShape(std::move(op), InputsOf(shapes), std::vector(outputs, DType::kFloat32));
}

std::vector<ReferenceTensor> EvaluateAll(Op op, const std::vector<NodeInput>& inputs,
                                         const std::vector<DType>& outputs) {
  Graph graph = OneNode(std::move(op), inputs, outputs);
  const Status inferred = InferShapes(graph);
  EXPECT_TRUE(inferred.ok()) << inferred.message();
  std::vector<ReferenceTensor> tensors;
  for (const NodeInput& input : inputs) tensors.push_back({input.shape, input.values});
  if (!inferred.ok()) return std::vector<ReferenceTensor>(outputs.size());
  Result<std::vector<ReferenceTensor>> results = EvaluateGraph(graph, tensors);
  EXPECT_TRUE(results.ok()) << results.status().message();
  return results.ok() ? std::move(results).value() : std::vector<ReferenceTensor>(outputs.size());
}

std::vector<double> Evaluate(Op op, const std::vector<NodeInput>& inputs, DType output) {
  return EvaluateAll(std::move(op), inputs, {output})[0].values;
}

}  // namespace hearth::testing
