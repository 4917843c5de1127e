// The kernels of binding_layout.cc on the host, for lent host memory.
#include <algorithm>
#include <cmath>
#include <vector>

#include "core/base/float16.h"
#include "core/graph/element.h"
#include "hal/io/binding_layout.h"
#include "hal/io/slices.h"

namespace hearth {
namespace {

float LoadComponent(StorageType element, const std::byte* at, int component) {
  switch (element) {
    case StorageType::kUnorm8: return static_cast<float>(std::to_integer<int>(at[component])) / 255.0f;
    case StorageType::kFloat16: return HalfToFloat(LoadAt<uint16_t>(at, component));
    default: return LoadAt<float>(at, component);
  }
}

void StoreComponent(StorageType element, std::byte* at, int component, float value) {
  switch (element) {
    case StorageType::kUnorm8: {
      const float clamped = value > 0.0f ? std::min(value, 1.0f) : 0.0f;  // NaN becomes 0
      at[component] = static_cast<std::byte>(std::nearbyint(clamped * 255.0f));
      return;
    }
    case StorageType::kFloat16: return StoreAt(at, component, FloatToHalf(value));
    default: StoreAt(at, component, value);
  }
}

// Calls `use` with each pixel's position in lent memory and its index in the tensor.
template <typename Use>
void ForEachPixel(const BindingLayout& layout, const Bhwc& shape, const Use& use) {
  const uint64_t element_bytes = TexelBytes(layout.element);
  const int64_t rows = int64_t{shape.b} * shape.h;
  for (int64_t row = 0; row < rows; ++row) {
    const int64_t y = row % shape.h;
    const int64_t lent_row = layout.flip_vertically ? row - y + shape.h - 1 - y : row;
    for (int64_t column = 0; column < shape.w; ++column) {
      const uint64_t element =
          layout.first + static_cast<uint64_t>(lent_row) * layout.pitch + static_cast<uint64_t>(column) * layout.stride;
      use(element * element_bytes, row * shape.w + column);
    }
  }
}

}  // namespace

void ReadBinding(const BindingLayout& layout, const TensorDesc& desc, std::span<const std::byte> memory,
                 std::span<std::byte> dense) {
  const Bhwc shape = ToBhwc(desc.shape);
  std::vector<float> reals(static_cast<size_t>(shape.pixels()) * shape.c);
  ForEachPixel(layout, shape, [&](uint64_t at_bytes, int64_t pixel) {
    for (int c = 0; c < shape.c; ++c) {
      reals[pixel * shape.c + c] =
          layout.scale[c % 4] * LoadComponent(layout.element, memory.data() + at_bytes, c) + layout.offset[c % 4];
    }
  });
  FloatsToDense(desc, std::as_bytes(std::span(reals)), dense);
}

void WriteBinding(const BindingLayout& layout, const TensorDesc& desc, std::span<const std::byte> dense,
                  std::span<std::byte> memory) {
  const Bhwc shape = ToBhwc(desc.shape);
  std::vector<float> reals(static_cast<size_t>(shape.pixels()) * shape.c);
  DenseToFloats(desc, dense, std::as_writable_bytes(std::span(reals)));
  const int components = layout.is_pixel ? 4 : shape.c;
  ForEachPixel(layout, shape, [&](uint64_t at_bytes, int64_t pixel) {
    for (int c = 0; c < components; ++c) {
      const float real = c < shape.c ? reals[pixel * shape.c + c] : 0.0f;
      StoreComponent(layout.element, memory.data() + at_bytes, c, layout.scale[c % 4] * real + layout.offset[c % 4]);
    }
  });
}

}  // namespace hearth
