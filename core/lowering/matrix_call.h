// The kernel call that 1x1 and general convolution and fully connected layers share: output pixels times channels as
// tiles of a matrix product.
#ifndef HEARTH_CORE_LOWERING_MATRIX_CALL_H_
#define HEARTH_CORE_LOWERING_MATRIX_CALL_H_

#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "core/plan/plan_builder.h"

namespace hearth {

struct MatrixShapes {
  int64_t pixels = 0;                            // of the output: rows of the product
  std::array<int32_t, 4> filter = {1, 1, 1, 1};  // O, kh, kw, I
  bool is_pointwise = true;                      // else the call needs ConvGeometry's scalars too
  int32_t groups = 1;                            // more than 1: channels of a group fill whole texels
};

// "patch" and "wide": rows pixels x 32 and x 16 channels on float16 vectors; "tile": rows pixels x cols groups of 4
// channels; "flat": the same for GPUs, numbered through both (flat_product.h); "lanes": a work group shares the sum of
// 4 outputs. The first suits the device by rule. The node is as MatrixCall takes it.
std::vector<KernelChoice> MatrixCandidates(const PlanBuilder& builder, const Node& node, const MatrixShapes& shapes);

// Kernel, operands, M, K4, N4 and the work items of the tile that suits the device. The node's inputs are x, filter and
// optionally a bias. A filter that is computed needs ConvGeometry's scalars, pointwise or not.
KernelCall MatrixCall(PlanBuilder& builder, const Node& node, const MatrixShapes& shapes, const KernelChoice& choice);

// Outputs per vector of the weights that a choice of MatrixCandidates takes.
int32_t WidthOf(const KernelChoice& choice);

// For products of many rows and channels, of a device that prefers wide vectors.
KernelChoice WideProductChoice(const DeviceInfo& device);

// `planes` products side by side: rows of all of them in `a` and `y`, their weights (packed
// WidthOf(choice) wide) one behind the other, no bias. `shapes.pixels` counts the rows of all.
struct PlanesOperands {
  ValueId a = kNoValue;
  Operand weights;
  ValueId y = kNoValue;
};
KernelCall PlanesCall(PlanBuilder& builder, const PlanesOperands& operands, const MatrixShapes& shapes, int32_t planes,
                      const KernelChoice& choice);

// Where the general convolution kernels find their pixels: IH IW IPIX OH OW KH KW SH SW DH DW PT PL.
std::vector<NamedScalar> ConvGeometry(const Window2D& window, const Bhwc& in, const Bhwc& out, int32_t kernel_h,
                                      int32_t kernel_w);

// The leading dimensions of a product: how many pixels a step along each is in an operand, 0 where it is broadcast.
struct BatchSteps {
  std::array<int32_t, 3> sizes = {1, 1, 1};
  std::array<int32_t, 3> a = {0, 0, 0}, b = {0, 0, 0};
};

// y[m,n] = bias[n] + sum over k of a[m,k] * b[k,n] for matrices that both may be computed.
struct ProductShapes {
  int32_t m = 1, n = 1, k = 1;
  bool adjoint_a = false, adjoint_b = false;  // a lies in memory as [k,m], b as [n,k]
  bool flat_a = false;                        // rows of a end anywhere in its pixels
  BatchSteps batch;
};
// The node's inputs are a, b and optionally a bias.
KernelCall ProductCall(PlanBuilder& builder, const Node& node, const ProductShapes& shapes);

}  // namespace hearth

#endif  // HEARTH_CORE_LOWERING_MATRIX_CALL_H_
