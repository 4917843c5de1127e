// Graphs of 8-bit values on the host, compared with core's float64 reference.
#ifndef HEARTH_TESTS_TESTING_INTEGER_GRAPH_H_
#define HEARTH_TESTS_TESTING_INTEGER_GRAPH_H_

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "core/graph/graph.h"

namespace hearth::testing {

// The quantization of a value: one scale and zero point, or one for each slice along `dimension`.
struct Grid {
  DType dtype = DType::kInt8;
  std::vector<float> scales = {0.05f};
  std::vector<int64_t> zero_points = {0};
  int32_t dimension = 0;

  TensorDesc Of(const Shape& shape) const { return {dtype, shape, Quantization{scales, zero_points, dimension}}; }
};

// A graph to which a test adds nodes. The last node's value is the output.
class IntegerGraph {
 public:
  ValueId Input(const Shape& shape, const Grid& grid);
  // Random numbers over the type's whole range.
  ValueId Constant(const Shape& shape, const Grid& grid);
  // int32 numbers of at most `largest`, in units of scale * scales[c].
  ValueId Bias(float scale, const std::vector<float>& scales, int32_t channels, int32_t largest = 3000);
  ValueId Add(Op op, std::vector<ValueId> inputs, const Grid& grid);
  // With a float result, or one described by `desc`.
  ValueId AddAs(Op op, std::vector<ValueId> inputs, const TensorDesc& desc);

  Graph& graph() { return graph_; }

 private:
  Graph graph_;
  std::mt19937 random_{20260402};
};

struct IntegerResults {
  std::vector<uint8_t> host, reference;  // the output's bytes
  std::vector<std::string> kernels;      // by node
};
// Infers the shapes and runs the graph on random bytes.
IntegerResults RunIntegers(Graph& graph, int threads = 2);

// Expects that all nodes run on stored integers and that the output equals the reference's. At most one element in 500
// may differ by one step: its sum is then close to the middle of two.
void ExpectIntegersAsReference(IntegerGraph& graph, int threads = 2);

}  // namespace hearth::testing

#endif  // HEARTH_TESTS_TESTING_INTEGER_GRAPH_H_
