#include "core/graph/float_reader.h"

#include <algorithm>

#include "core/base/float16.h"
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
  float scale = 1;
  double zero_point = 0;
  if (IsQuantized(desc_) && !desc_.quantization->scales.empty()) {
    const Quantization& quantization = *desc_.quantization;
    scale = quantization.scales[quantization.scales.size() == 1 ? 0 : slice];
    const size_t zero_points = quantization.zero_points.size();
    if (zero_points > 0) zero_point = static_cast<double>(quantization.zero_points[zero_points == 1 ? 0 : slice]);
  }
  // Of up to 16 bits a difference to the zero point is a whole float, so that the product alone is rounded.
  const auto read = [bytes = bytes_, first, count, out, scale,
                     zero = static_cast<float>(zero_point)](const auto& load) {
    for (int64_t i = 0; i < count; ++i) out[i] = scale * (static_cast<float>(load(bytes, first + i)) - zero);
  };
  switch (desc_.dtype) {
    case DType::kFloat16:
      return read([](const std::byte* b, int64_t i) { return HalfToFloat(LoadAt<uint16_t>(b, i)); });
    case DType::kInt4: return read([](const std::byte* b, int64_t i) { return LoadInt4(b, i); });
    case DType::kInt8: return read([](const std::byte* b, int64_t i) { return LoadAt<int8_t>(b, i); });
    case DType::kUInt8: return read([](const std::byte* b, int64_t i) { return LoadAt<uint8_t>(b, i); });
    case DType::kInt16: return read([](const std::byte* b, int64_t i) { return LoadAt<int16_t>(b, i); });
    default: break;
  }
  const auto element_bytes = static_cast<int64_t>(BitsOf(desc_.dtype) / 8);
  double numbers[256];
  for (int64_t done = 0; done < count; done += std::ssize(numbers)) {
    const int64_t some = std::min<int64_t>(count - done, std::ssize(numbers));
    const std::span bytes(bytes_ + (first + done) * element_bytes, static_cast<size_t>(some * element_bytes));
    LoadElements(desc_.dtype, bytes, {numbers, static_cast<size_t>(some)});
    for (int64_t i = 0; i < some; ++i) out[done + i] = static_cast<float>(double{scale} * (numbers[i] - zero_point));
  }
}

}  // namespace hearth
