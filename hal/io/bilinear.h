// The pixels that bilinear resizing reads, in one place for all code that resizes.
#ifndef HEARTH_HAL_IO_BILINEAR_H_
#define HEARTH_HAL_IO_BILINEAR_H_

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace hearth {

// Two neighbours and the weight of the second.
struct BilinearSample {
  int32_t low = 0, high = 0;
  float weight = 0;
  friend bool operator==(const BilinearSample&, const BilinearSample&) = default;
};

// Half-pixel centres, edges clamped, without antialiasing (TensorFlow's resize_bilinear with half_pixel_centers).
inline BilinearSample BilinearSampleAt(int32_t index, int32_t in_size, int32_t out_size) {
  const float position =
      (static_cast<float>(index) + 0.5f) * static_cast<float>(in_size) / static_cast<float>(out_size) - 0.5f;
  const float low = std::floor(position);
  const int32_t last = in_size - 1;
  return {std::clamp(static_cast<int32_t>(low), 0, last), std::clamp(static_cast<int32_t>(low) + 1, 0, last),
          position - low};
}

}  // namespace hearth

#endif  // HEARTH_HAL_IO_BILINEAR_H_
