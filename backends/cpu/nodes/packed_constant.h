// Constants of a graph as numbers, and packed as right operands of products, which all nodes that need the same packing
// share.
#ifndef HEARTH_BACKENDS_CPU_NODES_PACKED_CONSTANT_H_
#define HEARTH_BACKENDS_CPU_NODES_PACKED_CONSTANT_H_

#include <memory>
#include <vector>

#include "backends/cpu/host/host_operand.h"
#include "backends/cpu/nodes/matrix_product.h"

namespace hearth {

// The layout of a constant's matrices, one after the other: element (row, column) is at row * row_step + column *
// column_step.
struct MatrixLayout {
  int64_t depth = 0, columns = 0;  // rows of the right operand, and its columns
  int64_t count = 1;
  int64_t row_step = 0, column_step = 1;
  bool is_checked = false;  // for infinities and NaN
};

template <typename Number>
struct PackedOf {
  std::shared_ptr<const PackedNumbers<Number>> matrices;
  bool are_finite = true;  // always true without MatrixLayout::is_checked
};
using PackedFloats = PackedOf<float>;

// Precondition: the constant has count * depth * columns elements.
template <typename Number = float>
Result<PackedOf<Number>> PackedConstant(const HostNodeRequest& request, ValueId constant, const MatrixLayout& layout);

}  // namespace hearth

#endif  // HEARTH_BACKENDS_CPU_NODES_PACKED_CONSTANT_H_
