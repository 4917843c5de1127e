// Dense host tensors to the device's slices layout [C/4][B][H][W][4] and back.
#ifndef HEARTH_HAL_SLICES_H_
#define HEARTH_HAL_SLICES_H_

#include <span>

#include "core/types.h"

namespace hearth {

// `dense` is [B,H,W,C] float32, `slices` has room for slices() * pixels() * 4 floats; channels beyond C
// become zero.
void DenseToSlices(const Bhwc& shape, std::span<const float> dense, std::span<float> slices);
void SlicesToDense(const Bhwc& shape, std::span<const float> slices, std::span<float> dense);

}  // namespace hearth

#endif  // HEARTH_HAL_SLICES_H_
