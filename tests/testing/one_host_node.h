// One node of any types on the host, compared with core's float64 reference.
#ifndef HEARTH_TESTS_TESTING_ONE_HOST_NODE_H_
#define HEARTH_TESTS_TESTING_ONE_HOST_NODE_H_

#include <string>
#include <utility>
#include <vector>

#include "core/graph/element.h"
#include "core/graph/graph.h"

namespace hearth::testing {

// A graph of one node with random inputs.
class OneHostNode {
 public:
  ValueId Input(const Shape& shape, DType dtype = DType::kFloat32);
  ValueId Constant(const Shape& shape);
  // The results are the graph's outputs.
  void Add(Op op, std::vector<ValueId> operands, const std::vector<DType>& results = {DType::kFloat32});

  // Element `k` of input number `input`.
  template <typename T>
  void Set(size_t input, int64_t k, T number) {
    StoreAt(inputs[input].data(), k, number);
  }

  Graph graph;
  std::vector<std::vector<std::byte>> inputs;
};

// The profile's name of the kernel that the CPU chooses for the node.
std::string KernelOf(OneHostNode& one);

// Expects that the CPU chooses `kernel` and gives the reference's results: floats within `tolerance` of the larger of 1
// and the number, other types and NaN exactly. Three threads and a second run must give the same bits.
void ExpectAsReference(OneHostNode one, const std::string& kernel, double tolerance = 2e-5);

}  // namespace hearth::testing

#endif  // HEARTH_TESTS_TESTING_ONE_HOST_NODE_H_
