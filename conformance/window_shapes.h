// Kernel sizes, steps and paddings that convolution and pooling cases combine.
#ifndef HEARTH_CONFORMANCE_WINDOW_SHAPES_H_
#define HEARTH_CONFORMANCE_WINDOW_SHAPES_H_

#include <fmt/format.h>

#include <string>

#include "core/graph/op.h"

namespace hearth::conformance {

struct KernelSize {
  int32_t h, w;
};
inline constexpr KernelSize kKernelSizes[] = {{1, 1}, {2, 2}, {3, 3}, {3, 1}, {1, 4}, {5, 5}};

struct Stepping {
  int32_t stride_h, stride_w, dilation_h, dilation_w;
};
inline constexpr Stepping kSteppings[] = {{1, 1, 1, 1}, {2, 2, 1, 1}, {3, 2, 1, 1}, {1, 1, 2, 3}, {2, 1, 1, 2}};

// Explicit numbers that no mode gives: unequal, and none on one side.
inline constexpr Padding2D kPaddings[] = {
    {PaddingMode::kSame}, {PaddingMode::kValid}, {PaddingMode::kExplicit, 0, 1, 1, 0}};

inline Window2D WindowOf(const Stepping& step, const Padding2D& padding) {
  return {step.stride_h, step.stride_w, step.dilation_h, step.dilation_w, padding};
}

// "s2x1_d1x2_same"
inline std::string WindowText(const Window2D& window) {
  std::string text = fmt::format("s{}x{}", window.stride_h, window.stride_w);
  if (window.dilation_h * window.dilation_w != 1) text += fmt::format("_d{}x{}", window.dilation_h, window.dilation_w);
  switch (window.padding.mode) {
    case PaddingMode::kSame: return text + "_same";
    case PaddingMode::kValid: return text + "_valid";
    case PaddingMode::kExplicit: break;
  }
  const Padding2D& padding = window.padding;
  return text + fmt::format("_p{}.{}.{}.{}", padding.top, padding.bottom, padding.left, padding.right);
}

}  // namespace hearth::conformance

#endif  // HEARTH_CONFORMANCE_WINDOW_SHAPES_H_
