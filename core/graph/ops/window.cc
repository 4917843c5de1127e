#include "core/graph/ops/window.h"

namespace hearth {
namespace {

struct Axis {
  const char* name;
  int32_t in, before, after, kernel, stride, dilation;
};

Result<int32_t> OutputSize(const NodeInference& inference, const Axis& axis) {
  if (axis.in == 0) return 0;  // no windows, regardless of the padding
  const int64_t span = (int64_t{axis.kernel} - 1) * axis.dilation + 1;
  const int64_t padded = int64_t{axis.in} + axis.before + axis.after;
  constexpr int64_t kLimit = int64_t{1} << 31;
  if (span >= kLimit || padded >= kLimit)
    return inference.Malformed("{}: a window of {} over {} elements is too large", axis.name, span, padded);
  if (span > padded) {
    return inference.Malformed(
        "{}: the window covers {} elements (kernel {}, dilation {}), the padded input has only {}", axis.name, span,
        axis.kernel, axis.dilation, padded);
  }
  return WindowedSize(axis.in, axis.before, axis.after, axis.kernel, axis.stride, axis.dilation);
}

}  // namespace

Result<ImageSize> InferWindow(const NodeInference& inference, const Window2D& window, int32_t kernel_h,
                              int32_t kernel_w) {
  if (window.stride_h < 1 || window.stride_w < 1)
    return inference.Malformed("stride {}x{} must be positive", window.stride_h, window.stride_w);
  if (window.dilation_h < 1 || window.dilation_w < 1)
    return inference.Malformed("dilation {}x{} must be positive", window.dilation_h, window.dilation_w);
  if (kernel_h < 1 || kernel_w < 1) return inference.Malformed("kernel {}x{} must be positive", kernel_h, kernel_w);
  const Shape& in = inference.shape(0);
  const Padding2D padding = ResolvePadding(window, in[1], in[2], kernel_h, kernel_w);
  if (std::min({padding.top, padding.bottom, padding.left, padding.right}) < 0) {
    return inference.Malformed("padding {},{},{},{} must not be negative", padding.top, padding.bottom, padding.left,
                               padding.right);
  }
  ImageSize size;
  HEARTH_ASSIGN(size.height, OutputSize(inference, {"height", in[1], padding.top, padding.bottom, kernel_h,
                                                    window.stride_h, window.dilation_h}));
  HEARTH_ASSIGN(size.width, OutputSize(inference, {"width", in[2], padding.left, padding.right, kernel_w,
                                                   window.stride_w, window.dilation_w}));
  return size;
}

}  // namespace hearth
