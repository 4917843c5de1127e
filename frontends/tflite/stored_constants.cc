#include "frontends/tflite/stored_constants.h"

#include <cstring>

#include "core/graph/element.h"

namespace hearth {

std::vector<std::byte> Int4OfInt2(std::span<const std::byte> stored, int64_t elements) {
  std::vector<std::byte> wide((static_cast<size_t>(elements) + 1) / 2);
  for (int64_t i = 0; i < elements; ++i) {
    const auto place = static_cast<size_t>(i);
    const std::byte bits = stored[place / 4] >> (2 * (place % 4)) & std::byte{3};
    // The upper bit is the sign.
    const std::byte number = (bits & std::byte{2}) == std::byte{0} ? bits : bits | std::byte{12};
    wide[place / 2] |= number << (4 * (place % 2));
  }
  return wide;
}

std::vector<std::byte> RealsOfBlocks(const TensorDesc& desc, std::span<const std::byte> stored, int64_t block,
                                     const std::vector<double>& scales, const std::vector<double>& zero_points) {
  const int64_t elements = desc.shape.element_count();
  std::vector<std::byte> reals(static_cast<size_t>(elements) * sizeof(float));
  for (int64_t i = 0; i < elements; ++i) {
    const auto at = static_cast<size_t>(i / block);
    const double zero_point = zero_points.empty() ? 0.0 : zero_points[at];
    const auto real = static_cast<float>((LoadElement(desc.dtype, stored, i) - zero_point) * scales[at]);
    std::memcpy(reals.data() + static_cast<size_t>(i) * sizeof real, &real, sizeof real);
  }
  return reals;
}

}  // namespace hearth
