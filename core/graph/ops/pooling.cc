#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/numbers.h"
#include "core/graph/ops/elementwise_table.h"
#include "core/graph/ops/op_functions.h"
#include "core/graph/ops/window.h"

namespace hearth {

Status InferPool2D(const NodeInference& inference) {
  const auto& pool = inference.op<Pool2D>();
  HEARTH_TRY(inference.CheckRank(0, 4));
  HEARTH_TRY(inference.CheckReal(0));
  if (pool.window.dilation_h != 1 || pool.window.dilation_w != 1) {
    return inference.Fail(StatusCode::kUnsupported, "dilation {}x{}; pooling knows only 1x1", pool.window.dilation_h,
                          pool.window.dilation_w);
  }
  const Padding2D& padding = pool.window.padding;
  if (padding.mode == PaddingMode::kExplicit && (std::max(padding.top, padding.bottom) >= pool.kernel_h ||
                                                 std::max(padding.left, padding.right) >= pool.kernel_w)) {
    return inference.Fail(StatusCode::kMalformedInput,
                          "padding {},{},{},{} must be smaller than the kernel {}x{}: a window would be empty",
                          padding.top, padding.bottom, padding.left, padding.right, pool.kernel_h, pool.kernel_w);
  }
  HEARTH_ASSIGN(const ImageSize size, InferWindow(inference, pool.window, pool.kernel_h, pool.kernel_w));
  const Shape& in = inference.shape(0);
  return inference.SetOutput(0, {in[0], size.height, size.width, in[3]});
}

void ReferencePool2D(const Node& node, ReferenceInputs inputs, ReferenceOutputs outputs) {
  const auto& pool = std::get<Pool2D>(node.op);
  const Window2D& window = pool.window;
  const ReferenceTensor& in = *inputs[0];
  ReferenceTensor& out = outputs[0];
  const Padding2D padding = ResolvePadding(window, in.shape[1], in.shape[2], pool.kernel_h, pool.kernel_w);
  const int64_t channels = in.shape[3];
  const bool is_max = pool.kind == PoolKind::kMax, squares = pool.kind == PoolKind::kL2;
  double* pixel = out.values.data();
  for (int64_t b = 0; b < out.shape[0]; ++b) {
    for (int32_t y = 0; y < out.shape[1]; ++y) {
      const TapRange rows = TapsInside(y, window.stride_h, padding.top, 1, pool.kernel_h, in.shape[1]);
      for (int32_t x = 0; x < out.shape[2]; ++x, pixel += channels) {
        const TapRange columns = TapsInside(x, window.stride_w, padding.left, 1, pool.kernel_w, in.shape[2]);
        std::fill_n(pixel, channels, is_max ? std::numeric_limits<double>::lowest() : 0.0);
        for (int64_t in_y = rows.origin + rows.begin; in_y < rows.origin + rows.end; ++in_y) {
          for (int64_t in_x = columns.origin + columns.begin; in_x < columns.origin + columns.end; ++in_x) {
            const double* element = &in.values[((b * in.shape[1] + in_y) * in.shape[2] + in_x) * channels];
            for (int64_t c = 0; c < channels; ++c) {
              pixel[c] =
                  is_max ? LargerOf(pixel[c], element[c]) : pixel[c] + (squares ? element[c] * element[c] : element[c]);
            }
          }
        }
        if (is_max) continue;
        const double count = static_cast<double>(rows.end - rows.begin) * (columns.end - columns.begin);
        for (int64_t c = 0; c < channels; ++c) pixel[c] = squares ? std::sqrt(pixel[c] / count) : pixel[c] / count;
      }
    }
  }
  ApplyActivation(pool.activation, out.values);
}

}  // namespace hearth
