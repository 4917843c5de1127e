#include "core/plan/pack.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <vector>

#include "core/base/error.h"
#include "core/base/float16.h"
#include "core/base/numbers.h"
#include "core/graph/block_scales.h"
#include "core/graph/element.h"
#include "core/graph/float_reader.h"

namespace hearth {
namespace {

constexpr int64_t kTileFloats = 16;  // a cache line of floats

// ---- Layouts ----

// Writes consecutive floats to memory that may be unaligned and slow to read back (a mapped buffer).
class FloatWriter {
 public:
  FloatWriter(std::span<std::byte> bytes, StorageType storage) : next_(bytes.data()), storage_(storage) {}
  void Write(const float* values, int64_t count) {
    if (storage_ == StorageType::kFloat16) return WriteHalves(values, count);
    std::memcpy(next_, values, count * sizeof(float));
    next_ += count * sizeof(float);
  }

  // Memory for floats that may be written in any order: their destination, or `scratch`. End then adds them.
  std::byte* Begin(float* scratch) const {
    return storage_ == StorageType::kFloat16 ? reinterpret_cast<std::byte*>(scratch) : next_;
  }
  void End(const float* scratch, int64_t count) {
    if (storage_ == StorageType::kFloat16) return WriteHalves(scratch, count);
    next_ += count * sizeof(float);
  }

 private:
  [[gnu::noinline]] void WriteHalves(const float* values, int64_t count) {  // long, where it is written out
    std::byte* __restrict halves = next_;
    for (int64_t i = 0; i < count; ++i) StoreAt(halves, i, FloatToHeldHalf(values[i]));
    next_ += count * static_cast<int64_t>(sizeof(uint16_t));
  }

  std::byte* next_;
  StorageType storage_;
};

// ---- Integers as they are ----

// Planes of pixels x 4 int32 from pixels of `channels` integers; larger integers saturate.
void PackIntegerSlices(const TensorDesc& desc, std::span<const std::byte> source, int64_t pixels, int64_t channels,
                       std::span<std::byte> packed) {
  constexpr double kLowest = std::numeric_limits<int32_t>::min(), kHighest = std::numeric_limits<int32_t>::max();
  std::byte* next = packed.data();
  for (int64_t c = 0; c < channels; c += 4) {
    for (int64_t pixel = 0; pixel < pixels; ++pixel, next += 4 * sizeof(int32_t)) {
      int32_t texel[4] = {};
      for (int64_t k = 0; k < std::min<int64_t>(4, channels - c); ++k) {
        const double stored = LoadElement(desc.dtype, source, pixel * channels + c + k);
        texel[k] = static_cast<int32_t>(std::clamp(stored, kLowest, kHighest));
      }
      std::memcpy(next, texel, sizeof(texel));
    }
  }
}

using FourFloats = float __attribute__((vector_size(16)));

// Floats of a row, in any memory.
using Line = const std::byte*;

FourFloats FourAt(Line line) {
  FourFloats four;
  std::memcpy(&four, line, sizeof(four));
  return four;
}

// Transposes the first four columns of four lines into lines `stride_bytes` apart.
void TurnFour(const Line* lines, int64_t offset_bytes, std::byte* out, int64_t stride_bytes) {
  const FourFloats a = FourAt(lines[0] + offset_bytes), b = FourAt(lines[1] + offset_bytes),
                   c = FourAt(lines[2] + offset_bytes), d = FourAt(lines[3] + offset_bytes);
  const FourFloats low_ab = __builtin_shufflevector(a, b, 0, 4, 1, 5),
                   low_cd = __builtin_shufflevector(c, d, 0, 4, 1, 5),
                   high_ab = __builtin_shufflevector(a, b, 2, 6, 3, 7),
                   high_cd = __builtin_shufflevector(c, d, 2, 6, 3, 7);
  const FourFloats turned[] = {
      __builtin_shufflevector(low_ab, low_cd, 0, 1, 4, 5), __builtin_shufflevector(low_ab, low_cd, 2, 3, 6, 7),
      __builtin_shufflevector(high_ab, high_cd, 0, 1, 4, 5), __builtin_shufflevector(high_ab, high_cd, 2, 3, 6, 7)};
  for (int64_t k = 0; k < 4; ++k) std::memcpy(out + k * stride_bytes, &turned[k], sizeof(FourFloats));
}

// Transposes `count` inputs of one tap for `kWidth` outputs. Reads whole cache lines row by row, because rows a
// multiple of 4 KiB apart share cache sets. Writes in order, as mapped memory may need. Floats are copied once, from
// the model to their destination.
template <int kWidth>
void TransposeRows(const FloatReader& reader, int64_t first, int64_t row_stride, int64_t rows, int64_t count,
                   int64_t padded_count, FloatWriter& writer) {
  constexpr int64_t kFourBytes = sizeof(FourFloats);
  for (int64_t i = 0; i < padded_count; i += kTileFloats) {
    const int64_t columns = std::min(kTileFloats, count - i);
    Line lines[kWidth];
    float read[kWidth][kTileFloats];
    for (int64_t row = 0; row < kWidth; ++row) {
      const int64_t at = first + row * row_stride + i;
      const bool is_whole = row < rows && columns == kTileFloats;
      lines[row] = is_whole ? reader.Floats(at) : nullptr;
      if (lines[row] != nullptr) continue;
      std::fill_n(read[row], kTileFloats, 0.0F);
      if (row < rows) reader.Read(at, columns, read[row]);
      lines[row] = reinterpret_cast<Line>(read[row]);
    }
    const int64_t fours = std::min(kTileFloats, padded_count - i) / 4;
    float tile[kTileFloats * kWidth];
    std::byte* const out = writer.Begin(tile);
    for (int64_t four = 0; four < fours; ++four) {
      for (int64_t row = 0; row < kWidth; row += 4)
        TurnFour(lines + row, four * kFourBytes, out + (four * kWidth + row / 4) * kFourBytes, kWidth * sizeof(float));
    }
    writer.End(tile, fours * 4 * kWidth);
  }
}

template <int kWidth>
void PackMatrix(const PackRecipe& recipe, const FloatReader& reader, FloatWriter writer) {
  const int64_t outputs = recipe.dims[0], taps = int64_t{recipe.dims[1]} * recipe.dims[2], inputs = recipe.dims[3];
  for (int64_t o = 0; o < outputs; o += kWidth) {
    const int64_t rows = std::min<int64_t>(kWidth, outputs - o);
    for (int64_t tap = 0; tap < taps; ++tap) {
      TransposeRows<kWidth>(reader, (o * taps + tap) * inputs, taps * inputs, rows, inputs, RoundUp(inputs, 4), writer);
    }
  }
}

// One row of G (Lavin and Gray 2015) times three numbers.
double TimesG(int row, double a, double b, double c) {
  switch (row) {
    case 0: return a / 4;
    case 1: return -(a + b + c) / 6;
    case 2: return -(a - b + c) / 6;
    case 3: return a / 24 + b / 12 + c / 6;
    case 4: return a / 24 - b / 12 + c / 6;
    default: return c;
  }
}

// Calculates in float64 and rounds once.
void PackWinograd(const PackRecipe& recipe, const FloatReader& reader, FloatWriter writer) {
  const int64_t outputs = recipe.dims[0], inputs = recipe.dims[3], width = recipe.width;
  std::vector<float> filters(static_cast<size_t>(outputs * 9 * inputs));
  reader.Read(0, outputs * 9 * inputs, filters.data());
  std::vector<float> vector(static_cast<size_t>(width));
  for (int plane = 0; plane < 36; ++plane) {
    for (int64_t first = 0; first < outputs; first += width) {
      for (int64_t i = 0; i < RoundUp(inputs, 4); ++i) {
        for (int64_t lane = 0; lane < width; ++lane) {
          const int64_t o = first + lane;
          double columns[3] = {};
          const bool is_there = o < outputs && i < inputs;
          for (int64_t x = 0; is_there && x < 3; ++x) {
            const float* tap = filters.data() + (o * 9 + x) * inputs + i;
            columns[x] = TimesG(plane / 6, tap[0], tap[3 * inputs], tap[6 * inputs]);
          }
          vector[lane] = static_cast<float>(TimesG(plane % 6, columns[0], columns[1], columns[2]));
        }
        writer.Write(vector.data(), width);
      }
    }
  }
}

// Planes of pixels x 4 floats, channels / 4 of them. Serves kDepthwise too, where a tap is a pixel.
void PackSlices(const FloatReader& reader, int64_t pixels, int64_t channels, FloatWriter writer) {
  for (int64_t c = 0; c < channels; c += 4) {
    for (int64_t pixel = 0; pixel < pixels; ++pixel) {
      float texel[4] = {};
      reader.Read(pixel * channels + c, std::min<int64_t>(4, channels - c), texel);
      writer.Write(texel, 4);
    }
  }
}

void PackLinear(const FloatReader& reader, int64_t count, int64_t padded_count, FloatWriter writer) {
  constexpr int64_t kChunk = 1024;
  for (int64_t i = 0; i < padded_count; i += kChunk) {
    float chunk[kChunk] = {};
    if (i < count) reader.Read(i, std::min(kChunk, count - i), chunk);
    writer.Write(chunk, std::min(kChunk, padded_count - i));
  }
}

// ---- Checks ----

std::string DimsText(const PackRecipe& recipe) {
  return Shape::FromSpan(recipe.dims).ToString();
}

Status CheckQuantization(const TensorDesc& desc) {
  if (!desc.quantization.has_value()) return Status::Ok();
  if (const BlockScales* blocks = BlocksOf(desc)) return CheckBlocks(*blocks, desc);
  const Quantization& quantization = *desc.quantization;
  const size_t scales = quantization.scales.size(), zero_points = quantization.zero_points.size();
  if (zero_points > 1 && zero_points != scales) {
    return Error(StatusCode::kMalformedInput, "weights have {} scales and {} zero points", scales, zero_points);
  }
  if (scales <= 1) return Status::Ok();
  const int dimension = quantization.dimension;
  if (dimension < 0 || dimension >= desc.shape.rank() || static_cast<size_t>(desc.shape[dimension]) != scales) {
    return Error(StatusCode::kMalformedInput, "weights of shape {} have {} scales along dimension {}", desc.shape,
                 scales, dimension);
  }
  return Status::Ok();
}

Status CheckRecipe(const PackRecipe& recipe, std::span<const std::byte> source, std::span<std::byte> packed) {
  const auto elements = CheckedElementCount(Shape::FromSpan(recipe.dims)),
             source_elements = CheckedElementCount(recipe.source.shape);
  if (!elements.has_value() || !source_elements.has_value() || *elements != *source_elements) {
    return Error(StatusCode::kMalformedInput, "weights of shape {} can't be packed as {}", recipe.source.shape,
                 DimsText(recipe));
  }
  const bool is_float = recipe.source.dtype == DType::kFloat32 || recipe.source.dtype == DType::kFloat16;
  if (recipe.storage == StorageType::kInt32 && (is_float || recipe.layout != PackLayout::kSlices)) {
    return Error(StatusCode::kInvalidArgument, "a constant of type {} can't be packed as integers",
                 DTypeName(recipe.source.dtype));
  }
  if (recipe.layout == PackLayout::kWinograd && (recipe.dims[1] != 3 || recipe.dims[2] != 3)) {
    return Error(StatusCode::kMalformedInput, "Winograd weights of dims {} are not a 3x3 filter", DimsText(recipe));
  }
  if (recipe.width != 4 && recipe.width != 16 && recipe.width != 32) {
    return Error(StatusCode::kInvalidArgument, "packing width {} is none of 4, 16 and 32", recipe.width);
  }
  if (recipe.layout == PackLayout::kDepthwise && recipe.dims[0] != 1) {
    return Error(StatusCode::kMalformedInput, "depthwise weights {} must start with 1", DimsText(recipe));
  }
  size_t size_bytes = source.size();
  if (recipe.stored) {
    HEARTH_TRY(CheckForm(*recipe.stored, BitsOf(recipe.source.dtype), size_bytes));
    size_bytes = StoredElements(*recipe.stored, BitsOf(recipe.source.dtype)).size_bytes();
  }
  if (size_bytes != recipe.source.size_bytes()) {
    return Error(StatusCode::kMalformedInput, "weights of shape {} and type {} need {} bytes but have {}",
                 recipe.source.shape, DTypeName(recipe.source.dtype), recipe.source.size_bytes(), size_bytes);
  }
  if (packed.size() != recipe.packed_size_bytes()) {
    return Error(StatusCode::kInvalidArgument, "packed weights need {} bytes of room but got {}",
                 recipe.packed_size_bytes(), packed.size());
  }
  return CheckQuantization(recipe.source);
}

}  // namespace

uint64_t PackRecipe::packed_size_bytes() const {
  constexpr int32_t kMostWidth = 32;  // of a recipe that CheckRecipe takes; a damaged plan may hold any
  const std::optional<int64_t> elements = CheckedElementCount(Shape::FromSpan(dims));
  if (!elements.has_value() || *elements == 0 || width <= 0 || width > kMostWidth) return 0;
  const int64_t vector = width;
  const auto element_bytes = static_cast<int64_t>(TexelBytes(storage) / 4);
  switch (layout) {
    case PackLayout::kMatrix: {
      const int64_t taps = int64_t{dims[1]} * dims[2];
      return RoundUp<int64_t>(dims[0], vector) * taps * RoundUp<int64_t>(dims[3], 4) * element_bytes;
    }
    case PackLayout::kWinograd:
      return uint64_t{36} * RoundUp<int64_t>(dims[0], vector) * RoundUp<int64_t>(dims[3], 4) * element_bytes;
    case PackLayout::kLinear: return RoundUp(*elements, vector) * element_bytes;
    case PackLayout::kDepthwise:
    case PackLayout::kSlices: return *elements / dims[3] * RoundUp<int64_t>(dims[3], 4) * element_bytes;
  }
  return 0;
}

Status PackConstant(const PackRecipe& recipe, std::span<const std::byte> source, std::span<std::byte> packed) {
  HEARTH_TRY(CheckRecipe(recipe, source, packed));
  if (packed.empty()) return Status::Ok();
  OrderedBytes ordered{source};
  if (recipe.stored) ordered = InForm(*recipe.stored, BitsOf(recipe.source.dtype), source);
  const FloatReader reader(recipe.source, ordered.bytes);
  const FloatWriter writer(packed, recipe.storage);
  const int64_t channels = recipe.dims[3];
  const int64_t pixels = int64_t{recipe.dims[0]} * recipe.dims[1] * recipe.dims[2];
  if (recipe.storage == StorageType::kInt32) {
    PackIntegerSlices(recipe.source, ordered.bytes, pixels, channels, packed);
    return Status::Ok();
  }
  switch (recipe.layout) {
    case PackLayout::kMatrix:
      recipe.width == 4    ? PackMatrix<4>(recipe, reader, writer)
      : recipe.width == 16 ? PackMatrix<16>(recipe, reader, writer)
                           : PackMatrix<32>(recipe, reader, writer);
      break;
    case PackLayout::kWinograd: PackWinograd(recipe, reader, writer); break;
    case PackLayout::kLinear:
      PackLinear(reader, pixels * channels, RoundUp(pixels * channels, recipe.width), writer);
      break;
    case PackLayout::kDepthwise:
    case PackLayout::kSlices: PackSlices(reader, pixels, channels, writer); break;
  }
  return Status::Ok();
}

}  // namespace hearth
