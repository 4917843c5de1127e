#include "hal/io/slices.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
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

struct HalfElement {
  float Load(const std::byte* bytes, int64_t i) const { return HalfToFloat(LoadAt<uint16_t>(bytes, i)); }
  void Store(std::byte* bytes, int64_t i, float value) const { StoreAt(bytes, i, FloatToHalf(value)); }
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

// ---- Dense elements as numbers of four bytes: floats, or int32 where a device holds those ----

// Calls `use` with the type of the dense elements. Returns false for those that are such numbers themselves.
template <typename Use>
bool WithElement(const TensorDesc& desc, StorageType storage, Use use) {
  const TensorGrid grid = GridOf(desc);
  const bool are_integers = storage == StorageType::kInt32;
  switch (desc.dtype) {
    case DType::kInt8: are_integers ? use(IntegerElement<int8_t>()) : use(TableElement<int8_t>(grid)); return true;
    case DType::kUInt8: are_integers ? use(IntegerElement<uint8_t>()) : use(TableElement<uint8_t>(grid)); return true;
    case DType::kInt16: are_integers ? use(IntegerElement<int16_t>()) : use(RealElement<int16_t>(grid)); return true;
    case DType::kInt64: are_integers ? use(IntegerElement<int64_t>()) : use(RealElement<int64_t>(grid)); return true;
    case DType::kUInt16: are_integers ? use(IntegerElement<uint16_t>()) : void(); return are_integers;
    case DType::kInt32: are_integers ? void() : use(RealElement<int32_t>(grid)); return !are_integers;
    case DType::kBool: are_integers ? void() : use(BoolElement()); return !are_integers;
    case DType::kFloat16: are_integers ? void() : use(HalfElement()); return !are_integers;
    default: return false;
  }
}

// Converts `count` elements of a tensor from element `begin` on; empty if there is nothing to convert.
using Conversion = std::function<void(const std::byte* from, int64_t begin, int64_t count, std::byte* to)>;

Conversion ToNumbers(const TensorDesc& desc, StorageType storage) {
  Conversion convert;
  WithElement(desc, storage, [&](const auto& element) {
    convert = [element](const std::byte* dense, int64_t begin, int64_t count, std::byte* numbers) {
      for (int64_t i = 0; i < count; ++i) StoreAt(numbers, i, element.Load(dense, begin + i));
    };
  });
  return convert;
}

Conversion FromNumbers(const TensorDesc& desc, StorageType storage) {
  Conversion convert;
  WithElement(desc, storage, [&](const auto& element) {
    convert = [element](const std::byte* numbers, int64_t begin, int64_t count, std::byte* dense) {
      using Number = decltype(element.Load(dense, 0));
      for (int64_t i = 0; i < count; ++i) element.Store(dense, begin + i, LoadAt<Number>(numbers, i));
    };
  });
  return convert;
}

void ConvertAll(const Conversion& convert, const TensorDesc& desc, std::span<const std::byte> from,
                std::span<std::byte> to) {
  if (convert) {
    convert(from.data(), 0, desc.shape.element_count(), to.data());
  } else {
    std::ranges::copy(from, to.begin());
  }
}

// ---- Numbers as texels of four ----

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

void FloatsToHalves(const std::byte* __restrict floats, int64_t count, std::byte* __restrict halves) {
  for (int64_t i = 0; i < count; ++i) StoreAt(halves, i, FloatToHeldHalf(LoadAt<float>(floats, i)));
}
void HalvesToFloats(const std::byte* __restrict halves, int64_t count, std::byte* __restrict floats) {
  for (int64_t i = 0; i < count; ++i) StoreAt(floats, i, HalfToFloat(LoadAt<uint16_t>(halves, i)));
}

// A few pixels of all planes, so that a cache line of pixels is used while it is in the cache.
struct Block {
  int64_t first = 0, pixels = 0;
};

// Calls use(block, room for its numbers, room for a plane of its texels) for all pixels; the room is what is asked for.
template <typename Use>
void ForEachBlock(const Bhwc& shape, bool has_numbers, bool has_texels, Use use) {
  constexpr int64_t kMostPixels = 512, kMostNumbers = 16 * 1024;
  const int64_t pixels = std::clamp<int64_t>(kMostNumbers / std::max(1, shape.c), 1, kMostPixels);
  std::vector<float> numbers(static_cast<size_t>(has_numbers ? pixels * shape.c : 0));
  std::vector<float> texels(static_cast<size_t>(has_texels ? pixels * 4 : 0));
  for (int64_t first = 0; first < shape.pixels(); first += pixels) {
    use(Block{first, std::min(pixels, shape.pixels() - first)}, reinterpret_cast<std::byte*>(numbers.data()),
        reinterpret_cast<std::byte*>(texels.data()));
  }
}

}  // namespace

void DenseToSlices(const TensorDesc& desc, StorageType storage, std::span<const std::byte> dense,
                   std::span<std::byte> slices) {
  constexpr std::array kMoves = {PixelsToTexels<1>, PixelsToTexels<2>, PixelsToTexels<3>, PixelsToTexels<4>};
  const Bhwc shape = ToBhwc(desc.shape);
  const Conversion convert = ToNumbers(desc, storage);
  const bool is_half = storage == StorageType::kFloat16;
  ForEachBlock(shape, convert != nullptr, is_half, [&](const Block& block, std::byte* room, std::byte* texel_room) {
    const std::byte* numbers = dense.data() + block.first * shape.c * 4;
    if (convert) {
      convert(dense.data(), block.first * shape.c, block.pixels * shape.c, room);
      numbers = room;
    }
    for (int32_t s = 0; s < shape.slices(); ++s) {
      const int64_t texel = s * shape.pixels() + block.first;
      std::byte* texels = is_half ? texel_room : slices.data() + texel * 16;
      kMoves[std::min(4, shape.c - s * 4) - 1](numbers + int64_t{s} * 16, int64_t{shape.c} * 4, block.pixels, texels);
      if (is_half) FloatsToHalves(texels, block.pixels * 4, slices.data() + texel * 8);
    }
  });
}

void SlicesToDense(const TensorDesc& desc, StorageType storage, std::span<const std::byte> slices,
                   std::span<std::byte> dense) {
  constexpr std::array kMoves = {TexelsToPixels<1>, TexelsToPixels<2>, TexelsToPixels<3>, TexelsToPixels<4>};
  const Bhwc shape = ToBhwc(desc.shape);
  const Conversion convert = FromNumbers(desc, storage);
  const bool is_half = storage == StorageType::kFloat16;
  ForEachBlock(shape, convert != nullptr, is_half, [&](const Block& block, std::byte* room, std::byte* texel_room) {
    std::byte* numbers = convert ? room : dense.data() + block.first * shape.c * 4;
    for (int32_t s = 0; s < shape.slices(); ++s) {
      const int64_t texel = s * shape.pixels() + block.first;
      if (is_half) HalvesToFloats(slices.data() + texel * 8, block.pixels * 4, texel_room);
      const std::byte* texels = is_half ? texel_room : slices.data() + texel * 16;
      kMoves[std::min(4, shape.c - s * 4) - 1](texels, int64_t{shape.c} * 4, block.pixels, numbers + int64_t{s} * 16);
    }
    if (convert) convert(room, block.first * shape.c, block.pixels * shape.c, dense.data());
  });
}

void FloatsToDense(const TensorDesc& desc, std::span<const std::byte> floats, std::span<std::byte> dense) {
  ConvertAll(FromNumbers(desc, StorageType::kFloat32), desc, floats, dense);
}

void DenseToFloats(const TensorDesc& desc, std::span<const std::byte> dense, std::span<std::byte> floats) {
  ConvertAll(ToNumbers(desc, StorageType::kFloat32), desc, dense, floats);
}

}  // namespace hearth
