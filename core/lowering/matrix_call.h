// The kernel call that 1x1 and general convolution and fully connected layers share: output pixels times channels as
// tiles of a matrix product.
#ifndef HEARTH_CORE_LOWERING_MATRIX_CALL_H_
#define HEARTH_CORE_LOWERING_MATRIX_CALL_H_

#include <array>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "core/plan/plan_builder.h"

namespace hearth {

struct MatrixShapes {
  int64_t pixels = 0;                            // of the output: rows of the product
  std::array<int32_t, 4> filter = {1, 1, 1, 1};  // O, kh, kw, I
  bool is_pointwise = true;                      // else the call needs WindowScalars's scalars too
  int32_t groups = 1;                            // more than 1: channels of a group fill whole texels
};

// "patch" and "wide": rows pixels x 32 and x 16 channels on float16 vectors; "tile": rows pixels x cols groups of 4
// channels; "flat", "local", "cooperative": what group_product.h says; "lanes": a work group shares the sum of 4
// outputs. Rules choose the first. The node is as for MatrixCall.
std::vector<KernelChoice> MatrixCandidates(const PlanBuilder& builder, const Node& node, const MatrixShapes& shapes);

// Kernel, operands, M, K4, N4 and the work items of the tile that suits the device. The node's inputs are x, filter and
// optionally a bias. A computed filter needs WindowScalars's scalars, also for pointwise convolutions.
KernelCall MatrixCall(PlanBuilder& builder, const Node& node, const MatrixShapes& shapes, const KernelChoice& choice);

// Outputs per vector of the weights for a choice of MatrixCandidates.
int32_t WidthOf(const KernelChoice& choice);

// For products of many rows and channels, on a device that prefers wide vectors.
KernelChoice WideProductChoice(const DeviceInfo& device);

// `planes` products at once: `a` and `y` hold the rows of all of them; their weights (packed WidthOf(choice) wide)
// follow each other; no bias. `shapes.pixels` counts the rows of all.
struct PlanesOperands {
  ValueId a = kNoValue;
  Operand weights;
  ValueId y = kNoValue;
};
KernelCall PlanesCall(PlanBuilder& builder, const PlanesOperands& operands, const MatrixShapes& shapes, int32_t planes,
                      const KernelChoice& choice);

// The position of a product's matrices in a tensor: the first texel, the stride in texels between groups of 4 columns,
// and the stride of each leading dimension (0 if the operand is broadcast). Rows are adjacent.
struct MatrixPlace {
  ValueId value = kNoValue;
  int32_t first = 0, slice_step = 0;
  std::array<int32_t, 3> batch_steps = {0, 0, 0};
};

// y[m,n] = bias[n] + sum over k of a[m,k] * b[k,n] for matrices that both may be computed.
struct ProductShapes {
  int32_t m = 1, n = 1, k = 1;
  bool adjoint_a = false, adjoint_b = false;   // a is stored as [k,m], b as [n,k]
  bool flat_a = false;                         // rows of a may end inside its pixels
  std::array<int32_t, 3> batches = {1, 1, 1};  // leading dimensions
  MatrixPlace a, b, y;
};
// The node's inputs are a, b and optionally a bias.
KernelCall ProductCall(PlanBuilder& builder, const Node& node, const ProductShapes& shapes);

// The matrices of a value that a node makes or reads whole, row after row.
MatrixPlace WholePlace(const PlanBuilder& builder, ValueId value);

// The elements `view` of a tensor as matrices of shape `own`. Transposed: their rows lie along the channels.
struct ViewedPlace {
  MatrixPlace place;
  bool transposed = false;
};
std::optional<ViewedPlace> PlaceThrough(const StridedView& view, const Shape& own, ValueId value, const Bhwc& lies_in);

// Makes the product that computes `x` store its elements as in `y`, which is the view `view` of x. Returns false and
// changes nothing if x is made by something else or its rows would not be adjacent. Precondition: nothing else reads x.
bool StoresThrough(const Node& node, ValueId x, ValueId y, const StridedView& view, PlanBuilder& builder);

}  // namespace hearth

#endif  // HEARTH_CORE_LOWERING_MATRIX_CALL_H_
