// The elements of a dense tensor as floats, a part at a time.
#ifndef HEARTH_CORE_GRAPH_FLOAT_READER_H_
#define HEARTH_CORE_GRAPH_FLOAT_READER_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>

#include "core/graph/types.h"

namespace hearth {

// Real numbers; quantized types are dequantized and rounded once. Floats cost a copy, others a few ns each.
class FloatReader {
 public:
  // Both must outlive the reader. Precondition: scales and zero points, if any, fit the shape.
  FloatReader(const TensorDesc& desc, std::span<const std::byte> bytes);

  // `count` consecutive elements.
  void Read(int64_t first, int64_t count, float* out) const {
    if (desc_.dtype == DType::kFloat32) {
      std::memcpy(out, bytes_ + 4 * first, static_cast<size_t>(4 * count));
    } else {
      ReadSlices(first, count, out);
    }
  }

  // The element and those behind it where they lie as floats, unaligned; null for other types.
  const std::byte* Floats(int64_t first) const { return desc_.dtype == DType::kFloat32 ? bytes_ + 4 * first : nullptr; }

 private:
  void ReadBlocks(const BlockScales& blocks, int64_t first, int64_t count, float* out) const;
  void ReadSlices(int64_t first, int64_t count, float* out) const;
  void ReadSlice(int64_t first, int64_t count, int64_t slice, float* out) const;

  const TensorDesc& desc_;
  const std::byte* bytes_;
  int64_t slice_count_ = 1;
  int64_t slice_size_ = std::numeric_limits<int64_t>::max();  // per tensor: one slice without end
};

}  // namespace hearth

#endif  // HEARTH_CORE_GRAPH_FLOAT_READER_H_
