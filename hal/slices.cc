#include "hal/slices.h"

#include <algorithm>
#include <cstring>

namespace hearth {

void DenseToSlices(const Bhwc& shape, std::span<const float> dense, std::span<float> slices) {
  const int64_t pixels = shape.pixels();
  for (int32_t s = 0; s < shape.slices(); ++s) {
    const int32_t lanes = std::min(4, shape.c - s * 4);
    const float* from = dense.data() + s * 4;
    float* to = slices.data() + s * pixels * 4;
    if (lanes == 4) {
      for (int64_t p = 0; p < pixels; ++p) std::memcpy(to + p * 4, from + p * shape.c, 4 * sizeof(float));
      continue;
    }
    for (int64_t p = 0; p < pixels; ++p) {
      for (int32_t k = 0; k < 4; ++k) to[p * 4 + k] = k < lanes ? from[p * shape.c + k] : 0.0f;
    }
  }
}

void SlicesToDense(const Bhwc& shape, std::span<const float> slices, std::span<float> dense) {
  const int64_t pixels = shape.pixels();
  for (int32_t s = 0; s < shape.slices(); ++s) {
    const int32_t lanes = std::min(4, shape.c - s * 4);
    const float* from = slices.data() + s * pixels * 4;
    float* to = dense.data() + s * 4;
    for (int64_t p = 0; p < pixels; ++p) std::memcpy(to + p * shape.c, from + p * 4, lanes * sizeof(float));
  }
}

}  // namespace hearth
