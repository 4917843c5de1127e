// Graphs of 8-bit values on the host, beside core's float64 reference.
#ifndef HEARTH_TESTS_TESTING_INTEGER_GRAPH_H_
#define HEARTH_TESTS_TESTING_INTEGER_GRAPH_H_

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "core/graph/graph.h"

namespace hearth::testing {

// How a value is stored: one scale and zero point, or one for each slice along `dimension`.
struct Grid {
  DType dtype = DType::kInt8;
  std::vector<float> scales = {0.05f};
  std::vector<int64_t> zero_points = {0};
  int32_t dimension = 0;

  TensorDesc Of(const Shape& shape) const { return {dtype, shape, Quantization{scales, zero_points, dimension}}; }
};

// A graph that grows node by node; the last node's value is the output.
class IntegerGraph {
 public:
  ValueId Input(const Shape& shape, const Grid& grid);
  // Random numbers of the whole type.
  ValueId Constant(const Shape& shape, const Grid& grid);
  // 32-bit numbers of at most `largest`, in units of scale * scales[c].
  ValueId Bias(float scale, const std::vector<float>& scales, int32_t channels, int32_t largest = 3000);
  ValueId Add(Op op, std::vector<ValueId> inputs, const Grid& grid);
  // In floats, or whatever `desc` says.
  ValueId AddAs(Op op, std::vector<ValueId> inputs, const TensorDesc& desc);

  Graph& graph() { return graph_; }

 private:
  Graph graph_;
  std::mt19937 random_{20260402};
};

struct IntegerResults {
  std::vector<uint8_t> host, reference;  // the output's bytes
  std::vector<std::string> kernels;      // of each node
};
// Infers the shapes and runs the graph on random bytes.
IntegerResults RunIntegers(Graph& graph, int threads = 2);

// Expects that all nodes run on stored integers, and of the output what the reference gives: at most one element in
// 500 may lie on the neighbouring step, where the sum is next to the middle.
void ExpectIntegersAsReference(IntegerGraph& graph, int threads = 2);

}  // namespace hearth::testing

#endif  // HEARTH_TESTS_TESTING_INTEGER_GRAPH_H_
