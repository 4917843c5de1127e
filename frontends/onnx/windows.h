// How windows of convolutions and pooling move over an operand whose channels come last.
#ifndef HEARTH_FRONTENDS_ONNX_WINDOWS_H_
#define HEARTH_FRONTENDS_ONNX_WINDOWS_H_

#include <cstdint>
#include <vector>

#include "frontends/onnx/op_view.h"

namespace hearth::onnx {

// By spatial dimension.
struct Windowing {
  std::vector<int64_t> kernel, stride, dilation, before, after;
};

// The kind of ConvTranspose's row: its automatic padding follows from the size of its output.
inline constexpr int kTransposed = -1;

// From the attributes; `x` is the operand's shape, channels last.
Result<Windowing> WindowingOf(const OpView& op, const std::vector<int64_t>& kernel, const Shape& x);

// x[N,...,C] by filter[O,C/groups,...] and bias[O] (or kNoValue); channels last.
Made AddConvolution(NodeWriter& to, const Windowing& w, const Made& x, const Made& filter, ValueId bias,
                    int64_t groups);

}  // namespace hearth::onnx

#endif  // HEARTH_FRONTENDS_ONNX_WINDOWS_H_
