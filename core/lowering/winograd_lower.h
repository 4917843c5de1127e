// Winograd F(4x4,3x3) (Lavin and Gray, "Fast Algorithms for Convolutional Neural Networks", 2015): a 3x3 convolution of
// stride 1 as 36 matrix products over 6x6 patches, with a quarter of the multiplications.
#ifndef HEARTH_CORE_LOWERING_WINOGRAD_LOWER_H_
#define HEARTH_CORE_LOWERING_WINOGRAD_LOWER_H_

#include <vector>

#include "core/lowering/matrix_call.h"

namespace hearth {

// "winograd_wide", "winograd_tile": how the products are calculated, as MatrixCandidates. Empty if it is impossible or
// cannot pay: other windows, few channels, scratch memory that is too large or not allowed.
std::vector<KernelChoice> WinogradCandidates(const PlanBuilder& builder, const Node& node, const MatrixShapes& shapes);

// Precondition: `choice` is one of them.
Status LowerWinograd(const Node& node, PlanBuilder& builder, const KernelChoice& choice);

}  // namespace hearth

#endif  // HEARTH_CORE_LOWERING_WINOGRAD_LOWER_H_
