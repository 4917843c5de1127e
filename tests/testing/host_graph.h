// Graphs on the host, compared with core's float64 reference.
#ifndef HEARTH_TESTS_TESTING_HOST_GRAPH_H_
#define HEARTH_TESTS_TESTING_HOST_GRAPH_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "core/graph/graph.h"

namespace hearth::testing {

constexpr uint32_t kHostGraphSeed = 20260401;

std::vector<float> RandomFloats(int64_t count, uint32_t seed);

// A graph to which a test adds nodes, with random constants. The last node's value is the output.
class GraphUnderTest {
 public:
  ValueId Input(const Shape& shape) {
    const ValueId value = graph_.AddValue({.name = "in", .desc = {.shape = shape}});
    graph_.inputs.push_back(value);
    return value;
  }
  ValueId Constant(const Shape& shape) {
    return graph_.AddFloatConstant("constant", shape, RandomFloats(shape.element_count(), ++seed_));
  }
  ValueId Add(Op op, std::vector<ValueId> inputs) {
    const ValueId value = graph_.AddValue({.name = "out"});
    graph_.AddNode({.op = std::move(op), .inputs = std::move(inputs), .outputs = {value}, .name = "node"});
    graph_.outputs = {value};
    return value;
  }
  Graph& graph() { return graph_; }

 private:
  Graph graph_;
  uint32_t seed_ = kHostGraphSeed;
};

std::vector<int> AllNodes(const Graph& graph);

// The first output after `runs` runs of one program with random inputs; empty after an error.
std::vector<float> RunOnHost(const Graph& graph, int threads, int runs = 1);

// Infers the shapes, and expects the reference's result from the host.
void ExpectReferenceResult(GraphUnderTest& test);

template <typename OpType>
OpType Activated(Activation activation) {
  OpType op;
  op.activation = activation;
  return op;
}

}  // namespace hearth::testing

#endif  // HEARTH_TESTS_TESTING_HOST_GRAPH_H_
