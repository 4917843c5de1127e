#include "core/graph/float_reader.h"

#include <algorithm>

#include "core/graph/element.h"
#include "core/graph/quantize.h"

namespace hearth {

FloatReader::FloatReader(const TensorDesc& desc, std::span<const std::byte> bytes) : desc_(desc), bytes_(bytes.data()) {
  if (!IsQuantized(desc) || desc.quantization->scales.size() <= 1) return;
  const int dimension = desc.quantization->dimension;
  slice_count_ = desc.shape[dimension];
  slice_size_ = CountBetween(desc.shape, dimension + 1, desc.shape.rank());
}

void FloatReader::ReadSlices(int64_t first, int64_t count, float* out) const {
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
