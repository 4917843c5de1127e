#include "core/graph/float_reader.h"

#include <algorithm>

#include "core/graph/block_scales.h"
#include "core/graph/element.h"
#include "core/graph/quantize.h"

namespace hearth {

FloatReader::FloatReader(const TensorDesc& desc, std::span<const std::byte> bytes) : desc_(desc), bytes_(bytes.data()) {
  if (!IsQuantized(desc) || desc.quantization->scales.size() <= 1) return;
  const int dimension = desc.quantization->dimension;
  slice_count_ = desc.shape[dimension];
  slice_size_ = CountBetween(desc.shape, dimension + 1, desc.shape.rank());
}

void FloatReader::ReadBlocks(const BlockScales& blocks, int64_t first, int64_t count, float* out) const {
  const int64_t length = desc_.shape[desc_.shape.rank() - 1], size = blocks.size;
  while (count > 0) {
    const int64_t row = first / length, at = first % length, block = at / size;
    const int64_t run = std::min({count, (block + 1) * size - at, length - at});
    const BlockScales::Grid grid = blocks.At(row, block);
    const auto read = [&](const auto& load) {
      for (int64_t i = 0; i < run; ++i) {
        const double stored = blocks.Unsigned(static_cast<double>(load(bytes_, first + i)));
        out[i] = static_cast<float>(grid.scale * (stored - grid.zero));
      }
    };
    switch (desc_.dtype) {  // of those that readers give blocks
      case DType::kInt4: read([](const std::byte* b, int64_t i) { return LoadInt4(b, i); }); break;
      case DType::kInt8: read([](const std::byte* b, int64_t i) { return LoadAt<int8_t>(b, i); }); break;
      default: read([](const std::byte* b, int64_t i) { return LoadAt<uint8_t>(b, i); });
    }
    first += run;
    out += run;
    count -= run;
  }
}

void FloatReader::ReadSlices(int64_t first, int64_t count, float* out) const {
  if (const BlockScales* blocks = BlocksOf(desc_)) return ReadBlocks(*blocks, first, count, out);
  int64_t slice = first / slice_size_ % slice_count_;
  int64_t left_in_slice = slice_size_ - first % slice_size_;
  while (count > 0) {
    const int64_t run = std::min(count, left_in_slice);
    ReadSlice(first, run, slice, out);
    first += run;
    out += run;
    count -= run;
    left_in_slice = slice_size_;
    slice = slice + 1 == slice_count_ ? 0 : slice + 1;
  }
}

void FloatReader::ReadSlice(int64_t first, int64_t count, int64_t slice, float* out) const {
  double scale = 1, zero_point = 0;
  if (IsQuantized(desc_) && !desc_.quantization->scales.empty()) {
    const Quantization& quantization = *desc_.quantization;
    scale = quantization.scales[quantization.scales.size() == 1 ? 0 : slice];
    const size_t zero_points = quantization.zero_points.size();
    if (zero_points > 0) zero_point = static_cast<double>(quantization.zero_points[zero_points == 1 ? 0 : slice]);
  }
  WithLoad(desc_.dtype, [&](const auto& load) {
    for (int64_t i = 0; i < count; ++i)
      out[i] = static_cast<float>(scale * (static_cast<double>(load(bytes_, first + i)) - zero_point));
  });
}

}  // namespace hearth
