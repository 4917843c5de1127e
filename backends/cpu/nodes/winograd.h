// Float 3x3 convolutions of stride 1 by Winograd's method: F(4x4, 3x3) of Lavin and Gray, "Fast Algorithms for
// Convolutional Neural Networks", 2015. Each 4x4 tile of the output takes 36 products of numbers instead of 144.
#ifndef HEARTH_BACKENDS_CPU_NODES_WINOGRAD_H_
#define HEARTH_BACKENDS_CPU_NODES_WINOGRAD_H_

#include <memory>

#include "backends/cpu/nodes/float_convolution.h"
#include "backends/cpu/nodes/matrix_product.h"

namespace hearth {

// Whether it is possible and faster than products of windows on this machine.
bool SuitsWinograd(const FloatConvolution& convolution);

// The transformed weights: 36 matrices of input channels times output channels, four times the weights' bytes.
Result<std::shared_ptr<const PackedMatrices>> WinogradWeights(const HostNodeRequest& request, ValueId weights);

// False if a sum is not finite. Then y has no meaning: an infinity or a NaN spreads over the tiles that read it, and
// large numbers may overflow between the transforms.
bool ConvolveByWinograd(const FloatConvolution& convolution, const PackedMatrices& weights, const float* x, float* y,
                        const ProductFinish& finish, WorkerPool& workers);

}  // namespace hearth

#endif  // HEARTH_BACKENDS_CPU_NODES_WINOGRAD_H_
