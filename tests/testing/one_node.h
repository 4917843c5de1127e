// Graphs of one node, for tests of inference and reference.
#ifndef HEARTH_TESTS_TESTING_ONE_NODE_H_
#define HEARTH_TESTS_TESTING_ONE_NODE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "core/graph/graph.h"
#include "core/graph/op_def.h"

namespace hearth::testing {

inline constexpr int32_t kHuge = 2147483647;  // a dimension

inline Window2D Window(int stride, int dilation, PaddingMode mode) {
  return {stride, stride, dilation, dilation, {.mode = mode}};
}

struct NodeInput {
  Shape shape;
  std::vector<double> values;
  DType dtype = DType::kFloat32;
};

// A node "n" that reads the graph's inputs and makes its outputs of these types.
Graph OneNode(Op op, const std::vector<NodeInput>& inputs, const std::vector<DType>& outputs = {DType::kFloat32});

// The first output's shape, or the error.
std::string InferredShape(Op op, const std::vector<NodeInput>& inputs,
                          const std::vector<DType>& outputs = {DType::kFloat32});

// The same for float32 inputs of these shapes.
std::vector<NodeInput> InputsOf(const std::vector<Shape>& shapes);
std::string FirstShape(Op op, const std::vector<Shape>& shapes, int outputs = 1);

// Expects that inference and evaluation succeed; returns empty tensors if they don't.
std::vector<ReferenceTensor> EvaluateAll(Op op, const std::vector<NodeInput>& inputs,
                                         const std::vector<DType>& outputs);

// The values of a single output.
std::vector<double> Evaluate(Op op, const std::vector<NodeInput>& inputs, DType output = DType::kFloat32);

}  // namespace hearth::testing

#endif  // HEARTH_TESTS_TESTING_ONE_NODE_H_
