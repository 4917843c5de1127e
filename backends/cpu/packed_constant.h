// Constants of a graph packed as right operands of products, shared by all nodes that need the same packing.
#ifndef HEARTH_BACKENDS_CPU_PACKED_CONSTANT_H_
#define HEARTH_BACKENDS_CPU_PACKED_CONSTANT_H_

#include <memory>

#include "backends/cpu/host_node.h"
#include "backends/cpu/matrix_product.h"

namespace hearth {

// The layout of a constant's matrices, one after the other: element (row, column) is at row * row_step + column *
// column_step.
struct MatrixLayout {
  int64_t depth = 0, columns = 0;  // rows of the right operand, and its columns
  int64_t count = 1;
  int64_t row_step = 0, column_step = 1;
  bool is_checked = false;  // for infinities and NaN
};

struct PackedFloats {
  std::shared_ptr<const PackedMatrices> matrices;
  bool are_finite = true;  // always true without MatrixLayout::is_checked
};

// Precondition: the constant has count * depth * columns elements.
Result<PackedFloats> PackedConstant(const HostNodeRequest& request, ValueId constant, const MatrixLayout& layout);

}  // namespace hearth

#endif  // HEARTH_BACKENDS_CPU_PACKED_CONSTANT_H_
