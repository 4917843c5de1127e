// Element types, shapes and tensor descriptions: the vocabulary of every layer.
#ifndef HEARTH_CORE_GRAPH_TYPES_H_
#define HEARTH_CORE_GRAPH_TYPES_H_

#include <fmt/core.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hearth/status.h"

namespace hearth {

enum class DType : uint8_t {
  kFloat32,
  kFloat16,
  kInt32,
  kUInt8,
  kInt64,
  kBool,
  kInt16,
  kInt8,
  kInt4,  // two elements a byte, low nibble first
  kUInt16,
  kUInt32,
  kFloat64,
  kUInt64,  // the state of random generators: copied, and read as bits
};
inline constexpr DType kLastDType = DType::kUInt64;

std::string_view DTypeName(DType dtype);  // "float32", ...
std::optional<DType> DTypeFromName(std::string_view name);
int BitsOf(DType dtype);
bool IsFloat(DType dtype);  // of any size

std::string ShapeText(std::span<const int32_t> dims);  // "1x224x224x3", "scalar"

// Dimensions of a tensor, outermost first; rank 0 (scalar) to 8.
// Dimensions are at least 0; -1 (unknown) appears only in a model file's signature.
class Shape {
 public:
  static constexpr int kMaxRank = 8;

  Shape() = default;
  Shape(std::initializer_list<int32_t> dims);
  // Precondition: dims.size() <= kMaxRank.
  static Shape FromSpan(std::span<const int32_t> dims);

  int rank() const { return rank_; }
  int32_t operator[](int i) const { return dims_[i]; }
  int32_t& operator[](int i) { return dims_[i]; }
  std::span<const int32_t> dims() const { return {dims_.data(), static_cast<size_t>(rank_)}; }
  int64_t element_count() const;  // 1 for a scalar
  std::string ToString() const { return ShapeText(dims()); }

  friend bool operator==(const Shape& a, const Shape& b) {
    return std::equal(a.dims().begin(), a.dims().end(), b.dims().begin(), b.dims().end());
  }

 private:
  int rank_ = 0;
  std::array<int32_t, kMaxRank> dims_{};
};

// The product of the dimensions from `begin` to before `end`.
inline int64_t CountBetween(const Shape& shape, int begin, int end) {
  int64_t count = 1;
  for (int d = begin; d < end; ++d) count *= shape[d];
  return count;
}

// A shape as kernels see it: batch, height, width, channels.
struct Bhwc {
  int32_t b = 1, h = 1, w = 1, c = 1;

  int64_t pixels() const { return int64_t{b} * h * w; }
  int32_t slices() const { return c / 4 + (c % 4 != 0 ? 1 : 0); }  // groups of 4 channels
  friend bool operator==(const Bhwc&, const Bhwc&) = default;
};

// rank 4 [b,h,w,c]; rank 3 [b,w,c]; rank 2 [b,c]; rank 1 [c]; rank 0 one channel.
// Ranks from 5 on fold their leading dimensions into b, which is INT32_MAX where their product is larger: no device
// takes such a tensor.
Bhwc ToBhwc(const Shape& shape);

// A range of bytes in one of a model's files. A .tflite model is one file; other formats keep weights in separate
// files.
struct FileRange {
  uint32_t file = 0;  // index into the list of files that the model's reader made
  uint64_t offset_bytes = 0, size_bytes = 0;
  friend auto operator<=>(const FileRange&, const FileRange&) = default;
};

struct BlockScales;  // core/graph/block_scales.h

// real = scale * (stored - zero_point), per tensor (size 1) or per slice along `dimension`; or per block, then without
// scales and zero points here.
struct Quantization {
  std::vector<float> scales;
  std::vector<int64_t> zero_points;
  int32_t dimension = 0;
  std::shared_ptr<const BlockScales> blocks;

  friend bool operator==(const Quantization& a, const Quantization& b);
};

struct TensorDesc {
  DType dtype = DType::kFloat32;
  Shape shape;
  std::optional<Quantization> quantization;

  size_t size_bytes() const;
  friend bool operator==(const TensorDesc&, const TensorDesc&) = default;
};

}  // namespace hearth

// Messages name a shape as ToString does.
template <>
struct fmt::formatter<hearth::Shape> : fmt::formatter<std::string_view> {
  auto format(const hearth::Shape& shape, fmt::format_context& context) const {
    return formatter<std::string_view>::format(shape.ToString(), context);
  }
};

#endif  // HEARTH_CORE_GRAPH_TYPES_H_
