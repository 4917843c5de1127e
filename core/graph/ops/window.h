// Checks the windows of convolution and pooling, and finds their position on an image.
#ifndef HEARTH_CORE_GRAPH_OPS_WINDOW_H_
#define HEARTH_CORE_GRAPH_OPS_WINDOW_H_

#include <algorithm>

#include "core/graph/ops/node_inference.h"

namespace hearth {

// The limit of strides, dilations and windows of operations that enlarge an image: products of two fit into 32 bits.
constexpr int32_t kMaxStep = 1 << 14;

// Height and width of the output of a window over input 0 (rank 4). Errors: a stride, dilation or kernel below 1,
// negative padding, sizes beyond 32 bits, a window larger than the padded image.
struct ImageSize {
  int32_t height = 0, width = 0;
};
Result<ImageSize> InferWindow(const NodeInference& inference, const Window2D& window, int32_t kernel_h,
                              int32_t kernel_w);

// The taps of a window along one axis that fall inside the image: taps [begin, end) read
// elements origin + tap * dilation.
struct TapRange {
  int64_t origin = 0;
  int32_t begin = 0, end = 0;
};
inline TapRange TapsInside(int64_t out_position, int32_t stride, int32_t pad_before, int32_t dilation, int32_t kernel,
                           int32_t in_size) {
  TapRange taps;
  taps.origin = out_position * stride - pad_before;
  const int64_t first = taps.origin >= 0 ? 0 : (-taps.origin + dilation - 1) / dilation;
  const int64_t end = taps.origin >= in_size ? 0 : (in_size - 1 - taps.origin) / dilation + 1;
  taps.begin = static_cast<int32_t>(std::min<int64_t>(first, kernel));
  taps.end = static_cast<int32_t>(std::clamp<int64_t>(end, taps.begin, kernel));
  return taps;
}

// Calls visit(b, rows, columns, at) for each pixel of the output in turn: the taps of its window, and its number.
template <typename Visit>
void ForEachWindow(const Window2D& window, int32_t kernel_h, int32_t kernel_w, const Shape& in, const Shape& out,
                   const Visit& visit) {
  const Padding2D padding = ResolvePadding(window, in[1], in[2], kernel_h, kernel_w);
  int64_t at = 0;
  for (int32_t b = 0; b < out[0]; ++b) {
    for (int32_t y = 0; y < out[1]; ++y) {
      const TapRange rows = TapsInside(y, window.stride_h, padding.top, window.dilation_h, kernel_h, in[1]);
      for (int32_t x = 0; x < out[2]; ++x) {
        visit(b, rows, TapsInside(x, window.stride_w, padding.left, window.dilation_w, kernel_w, in[2]), at++);
      }
    }
  }
}

// For an image of height x width: rows above and columns left of it that the first windows cover (pooling.cc).
// MediaPipe derives it from the output's size; more than 0 only under strides larger than the kernel.
Padding2D UnpoolPadding(const MaxUnpool2D& unpool, int32_t height, int32_t width);

// Of an image or a filter: rank 4, real numbers.
inline Status CheckImage(const NodeInference& inference, size_t i) {
  HEARTH_TRY(inference.CheckRank(i, 4));
  return inference.CheckReal(i);
}

// The channels of a pixel.
inline const double* PixelAt(const ReferenceTensor& image, int64_t b, int64_t y, int64_t x) {
  return &image.values[((b * image.shape[1] + y) * image.shape[2] + x) * image.shape[3]];
}

}  // namespace hearth

#endif  // HEARTH_CORE_GRAPH_OPS_WINDOW_H_
