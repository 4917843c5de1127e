#include "hal/io/slices.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <vector>

#include "core/base/float16.h"
#include "core/graph/element.h"
#include "core/graph/quantize.h"

namespace hearth {
namespace {

// ---- One element, on the host ----

template <typename T>
struct RealElement {
  explicit RealElement(const TensorGrid& of) : grid(of), is_small(IsSmall(of)) {}
  float Load(const std::byte* bytes, int64_t i) const {
    return grid.scale * (static_cast<float>(LoadAt<T>(bytes, i)) - static_cast<float>(grid.zero_point));
  }
  void Store(std::byte* bytes, int64_t i, float value) const {
    StoreAt(bytes, i,
            is_small ? static_cast<T>(StepsOf(value, grid) + grid.zero_point) : Saturate<T>(StoredNumber(value, grid)));
  }

  TensorGrid grid;
  bool is_small;
};

// A table of the real numbers of a byte's 256 values.
template <typename T>
struct TableElement {
  explicit TableElement(const TensorGrid& grid) : element(grid) {
    for (int k = 0; k < 256; ++k) {
      const auto byte = static_cast<std::byte>(k);
      reals[k] = element.Load(&byte, 0);
    }
  }
  float Load(const std::byte* bytes, int64_t i) const { return reals[static_cast<uint8_t>(bytes[i])]; }
  void Store(std::byte* bytes, int64_t i, float value) const { element.Store(bytes, i, value); }

  RealElement<T> element;
  std::array<float, 256> reals;
};

struct FloatElement {
  float Load(const std::byte* bytes, int64_t i) const { return LoadAt<float>(bytes, i); }
  void Store(std::byte* bytes, int64_t i, float value) const { StoreAt(bytes, i, value); }
};
struct HalfElement {
  float Load(const std::byte* bytes, int64_t i) const { return HalfToFloat(LoadAt<uint16_t>(bytes, i)); }
  void Store(std::byte* bytes, int64_t i, float value) const { StoreAt(bytes, i, FloatToHalf(value)); }
};
struct HeldHalfElement : HalfElement {
  void Store(std::byte* bytes, int64_t i, float value) const { StoreAt(bytes, i, FloatToHeldHalf(value)); }
};
struct BoolElement {
  float Load(const std::byte* bytes, int64_t i) const { return LoadAt<uint8_t>(bytes, i) != 0 ? 1.0f : 0.0f; }
  void Store(std::byte* bytes, int64_t i, float value) const {
    StoreAt<uint8_t>(bytes, i, value != 0.0f ? uint8_t{1} : uint8_t{0});
  }
};
template <typename T>
struct IntegerElement {
  int32_t Load(const std::byte* bytes, int64_t i) const { return Saturated<int32_t>(LoadAt<T>(bytes, i)); }
  void Store(std::byte* bytes, int64_t i, int32_t value) const { StoreAt(bytes, i, Saturated<T>(value)); }

  template <typename To, typename From>
  static To Saturated(From value) {
    constexpr int64_t kLowest = std::numeric_limits<To>::lowest(), kHighest = std::numeric_limits<To>::max();
    return static_cast<To>(std::clamp<int64_t>(value, kLowest, kHighest));
  }
};

// ---- All elements ----

template <typename Host, typename Device>
void ToSlices(const Bhwc& shape, const Host& host, const Device& device, const std::byte* dense, std::byte* slices) {
  const int64_t pixels = shape.pixels();
  for (int32_t s = 0; s < shape.slices(); ++s) {
    const int32_t channels = std::min(4, shape.c - s * 4);
    for (int64_t p = 0; p < pixels; ++p) {
      for (int32_t k = 0; k < 4; ++k) {
        using Number = decltype(host.Load(dense, 0));
        const Number value = k < channels ? host.Load(dense, p * shape.c + s * 4 + k) : Number{};
        device.Store(slices, (s * pixels + p) * 4 + k, value);
      }
    }
  }
}

template <typename Host, typename Device>
void FromSlices(const Bhwc& shape, const Host& host, const Device& device, const std::byte* slices, std::byte* dense) {
  const int64_t pixels = shape.pixels();
  for (int32_t s = 0; s < shape.slices(); ++s) {
    const int32_t channels = std::min(4, shape.c - s * 4);
    for (int64_t p = 0; p < pixels; ++p) {
      for (int32_t k = 0; k < channels; ++k) {
        host.Store(dense, p * shape.c + s * 4 + k, device.Load(slices, (s * pixels + p) * 4 + k));
      }
    }
  }
}

// Calls `use` with the host's and the device's element types.
template <typename Use>
void WithElements(const TensorDesc& desc, StorageType storage, Use use) {
  if (storage == StorageType::kInt32) {
    const IntegerElement<int32_t> device;
    switch (desc.dtype) {
      case DType::kInt8: return use(IntegerElement<int8_t>(), device);
      case DType::kUInt8: return use(IntegerElement<uint8_t>(), device);
      case DType::kInt16: return use(IntegerElement<int16_t>(), device);
      case DType::kUInt16: return use(IntegerElement<uint16_t>(), device);
      case DType::kInt64: return use(IntegerElement<int64_t>(), device);
      default: return use(IntegerElement<int32_t>(), device);
    }
  }
  const auto with_device = [&](const auto& host) {
    if (storage == StorageType::kFloat16) return use(host, HeldHalfElement());
    use(host, FloatElement());
  };
  const TensorGrid grid = GridOf(desc);
  switch (desc.dtype) {
    case DType::kFloat16: return with_device(HalfElement());
    case DType::kBool: return with_device(BoolElement());
    case DType::kUInt8: return with_device(TableElement<uint8_t>(grid));
    case DType::kInt8: return with_device(TableElement<int8_t>(grid));
    case DType::kInt16: return with_device(RealElement<int16_t>(grid));
    case DType::kInt32: return with_device(RealElement<int32_t>(grid));
    case DType::kInt64: return with_device(RealElement<int64_t>(grid));
    default: return with_device(FloatElement());
  }
}

// ---- Floats: what most networks do on every run ----

// Converts a plane's texels from pixels of `row_bytes`, and back. The number of channels is a template argument,
// because a call of memcpy for each pixel would take most of the time.
template <int kLanes>
void PixelsToTexels(const std::byte* pixels, int64_t row_bytes, int64_t count, std::byte* texels) {
  for (int64_t p = 0; p < count; ++p) {
    std::memcpy(texels + p * 16, pixels + p * row_bytes, kLanes * 4);
    if constexpr (kLanes < 4) std::memset(texels + p * 16 + kLanes * 4, 0, 16 - kLanes * 4);
  }
}
template <int kLanes>
void TexelsToPixels(const std::byte* texels, int64_t row_bytes, int64_t count, std::byte* pixels) {
  for (int64_t p = 0; p < count; ++p) std::memcpy(pixels + p * row_bytes, texels + p * 16, kLanes * 4);
}

constexpr int64_t kBlock = 512;

// Calls move(channels, offset of the first pixel, of its texel, pixels) for all planes of a few pixels before the next
// pixels, so that a cache line of pixels is used while it is in the cache.
template <typename Move>
void ForEachPlane(const Bhwc& shape, Move move) {
  const int64_t pixels = shape.pixels(), row_bytes = int64_t{shape.c} * 4;
  for (int64_t first = 0; first < pixels; first += kBlock) {
    for (int32_t s = 0; s < shape.slices(); ++s) {
      move(std::min(4, shape.c - s * 4), first * row_bytes + int64_t{s} * 16, (s * pixels + first) * 16,
           std::min(kBlock, pixels - first));
    }
  }
}

void FloatsToSlices(const Bhwc& shape, const std::byte* dense, std::byte* slices) {
  constexpr std::array kMoves = {PixelsToTexels<1>, PixelsToTexels<2>, PixelsToTexels<3>, PixelsToTexels<4>};
  ForEachPlane(shape, [&](int32_t channels, int64_t pixel, int64_t texel, int64_t count) {
    kMoves[channels - 1](dense + pixel, int64_t{shape.c} * 4, count, slices + texel);
  });
}

void SlicesToFloats(const Bhwc& shape, const std::byte* slices, std::byte* dense) {
  constexpr std::array kMoves = {TexelsToPixels<1>, TexelsToPixels<2>, TexelsToPixels<3>, TexelsToPixels<4>};
  ForEachPlane(shape, [&](int32_t channels, int64_t pixel, int64_t texel, int64_t count) {
    kMoves[channels - 1](slices + texel, int64_t{shape.c} * 4, count, dense + pixel);
  });
}

// From texels of float16, a block at a time. Into them the other loop is as fast.
void HalfSlicesToFloats(const Bhwc& shape, const std::byte* slices, std::byte* dense) {
  constexpr std::array kMoves = {TexelsToPixels<1>, TexelsToPixels<2>, TexelsToPixels<3>, TexelsToPixels<4>};
  std::array<float, kBlock * 4> floats;
  std::array<uint16_t, kBlock * 4> halves;
  ForEachPlane(shape, [&](int32_t channels, int64_t pixel, int64_t texel, int64_t count) {
    std::memcpy(halves.data(), slices + texel / 2, count * 8);
    for (int64_t i = 0; i < count * 4; ++i) floats[i] = HalfToFloat(halves[i]);
    kMoves[channels - 1](reinterpret_cast<std::byte*>(floats.data()), int64_t{shape.c} * 4, count, dense + pixel);
  });
}

}  // namespace

void DenseToSlices(const TensorDesc& desc, StorageType storage, std::span<const std::byte> dense,
                   std::span<std::byte> slices) {
  const Bhwc shape = ToBhwc(desc.shape);
  if (desc.dtype == DType::kFloat32 && storage == StorageType::kFloat32)
    return FloatsToSlices(shape, dense.data(), slices.data());
  WithElements(desc, storage, [&](const auto& host, const auto& device) {
    ToSlices(shape, host, device, dense.data(), slices.data());
  });
}

void SlicesToDense(const TensorDesc& desc, StorageType storage, std::span<const std::byte> slices,
                   std::span<std::byte> dense) {
  const Bhwc shape = ToBhwc(desc.shape);
  if (desc.dtype == DType::kFloat32 && storage == StorageType::kFloat32)
    return SlicesToFloats(shape, slices.data(), dense.data());
  if (desc.dtype == DType::kFloat32 && storage == StorageType::kFloat16)
    return HalfSlicesToFloats(shape, slices.data(), dense.data());
  WithElements(desc, storage, [&](const auto& host, const auto& device) {
    FromSlices(shape, host, device, slices.data(), dense.data());
  });
}

void FloatsToDense(const TensorDesc& desc, std::span<const std::byte> floats, std::span<std::byte> dense) {
  if (desc.dtype == DType::kFloat32) {
    std::ranges::copy(floats, dense.begin());
    return;
  }
  const Bhwc shape = ToBhwc(desc.shape);
  std::vector<std::byte> slices(static_cast<size_t>(shape.pixels()) * shape.slices() *
                                TexelBytes(StorageType::kFloat32));
  DenseToSlices({DType::kFloat32, desc.shape, {}}, StorageType::kFloat32, floats, slices);
  SlicesToDense(desc, StorageType::kFloat32, slices, dense);
}

}  // namespace hearth
