// The kernel call that 1x1 and general convolution and fully connected layers share: output pixels times channels as
// tiles of a matrix product.
#ifndef HEARTH_CORE_OPS_MATRIX_CALL_H_
#define HEARTH_CORE_OPS_MATRIX_CALL_H_

#include "core/plan_builder.h"

namespace hearth {

// Rounded up.
int64_t Tiles(int64_t size, int64_t tile);

struct MatrixShapes {
  int64_t pixels = 0;                            // of the output: rows of the product
  std::array<int32_t, 4> filter = {1, 1, 1, 1};  // O, kh, kw, I
  bool is_pointwise = true;  // else the general convolution kernel, which the caller gives its geometry
};

// Kernel, operands, M, K4, N4 and the work items of the tile that suits the device. The node's inputs are x, filter and
// optionally a bias.
KernelCall MatrixCall(PlanBuilder& builder, const Node& node, const MatrixShapes& shapes);

}  // namespace hearth

#endif  // HEARTH_CORE_OPS_MATRIX_CALL_H_
