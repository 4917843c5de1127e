#include <algorithm>

#include "core/graph/ops/elementwise_table.h"
#include "core/graph/ops/op_functions.h"
#include "core/graph/ops/window.h"

namespace hearth {
namespace {

constexpr int32_t kMaxPadding = 1 << 28;  // a coordinate plus padding stays within 32 bits
constexpr int64_t kMaxSide = 1 << 28;     // of the output image

// Output size along one axis, as in MediaPipe's Convolution2DTransposeBias.
int64_t EnlargedSize(PaddingMode mode, int32_t in, int32_t kernel, int32_t stride, int32_t before, int32_t after) {
  const int64_t covered = int64_t{stride} * (in - 1);
  if (mode == PaddingMode::kSame) return covered + std::min(kernel, (in - 1) % stride + 1);
  return covered + kernel - (mode == PaddingMode::kExplicit ? int64_t{before} + after : 0);
}

Status CheckAttributes(const NodeInference& inference, const TransposeConv& conv) {
  if (std::min(conv.stride_h, conv.stride_w) < 1 || std::max(conv.stride_h, conv.stride_w) > kMaxStep) {
    return inference.Fail(StatusCode::kMalformedInput, "stride {}x{}; each must be 1 to {}", conv.stride_h,
                          conv.stride_w, kMaxStep);
  }
  const Padding2D& padding = conv.padding;
  if (std::min({padding.top, padding.bottom, padding.left, padding.right}) < 0 ||
      std::max({padding.top, padding.bottom, padding.left, padding.right}) > kMaxPadding) {
    return inference.Fail(StatusCode::kMalformedInput, "padding {},{},{},{}; each must be 0 to {}", padding.top,
                          padding.bottom, padding.left, padding.right, kMaxPadding);
  }
  const bool computed = conv.height == 0 && conv.width == 0;
  if (!computed && (conv.height < 1 || conv.width < 1)) {
    return inference.Fail(StatusCode::kMalformedInput, "an output of {}x{} pixels", conv.height, conv.width);
  }
  return Status::Ok();
}

// sum[o] += sum over i of in[i] * filter[o][tap][i]
void AddTap(const double* in, const ReferenceTensor& filter, int64_t tap, double* sum) {
  const int64_t depth = filter.shape[3], step = filter.shape[1] * int64_t{filter.shape[2]} * depth;
  const double* weights = &filter.values[tap * depth];
  for (int64_t o = 0; o < filter.shape[0]; ++o, weights += step) {
    for (int64_t i = 0; i < depth; ++i) sum[o] += in[i] * weights[i];
  }
}

// The taps along one axis that reach output coordinate `at`: tap = first, first + stride, ...; the n-th of them reads
// input origin - n.
struct Phase {
  Phase(int64_t at, int32_t padding, int32_t stride)
      : first((at + padding) % stride), origin((at + padding) / stride) {}
  int64_t first, origin;
};

}  // namespace

Status InferTransposeConv(const NodeInference& inference) {
  const auto& conv = inference.op<TransposeConv>();
  for (size_t i : {0, 1}) {
    HEARTH_TRY(inference.CheckRank(i, 4));
    HEARTH_TRY(inference.CheckReal(i));
  }
  HEARTH_TRY(CheckAttributes(inference, conv));
  const Shape &in = inference.shape(0), &filter = inference.shape(1);
  if (filter[3] != in[3]) {
    return inference.Fail(StatusCode::kMalformedInput, "the filter {} reads {} channels, the input {} has {}",
                          filter.ToString(), filter[3], in.ToString(), in[3]);
  }
  if (inference.HasInput(2)) HEARTH_TRY(inference.CheckBias(2, filter[0]));
  const Padding2D& padding = conv.padding;
  int64_t height = conv.height, width = conv.width;
  if (height == 0) {
    height = EnlargedSize(padding.mode, in[1], filter[1], conv.stride_h, padding.top, padding.bottom);
    width = EnlargedSize(padding.mode, in[2], filter[2], conv.stride_w, padding.left, padding.right);
  }
  if (height < 1 || width < 1 || height > kMaxSide || width > kMaxSide) {
    return inference.Fail(StatusCode::kMalformedInput, "an output of {}x{} pixels (input {}, filter {})", height, width,
                          in.ToString(), filter.ToString());
  }
  return inference.SetOutput(0, {in[0], height, width, filter[0]});
}

void ReferenceTransposeConv(const Node& node, ReferenceInputs inputs, ReferenceOutputs outputs) {
  const auto& conv = std::get<TransposeConv>(node.op);
  const ReferenceTensor &in = *inputs[0], &filter = *inputs[1];
  ReferenceTensor& out = outputs[0];
  const ReferenceTensor* bias = inputs.size() > 2 ? inputs[2] : nullptr;
  const Window2D window = {.stride_h = conv.stride_h, .stride_w = conv.stride_w, .padding = conv.padding};
  const Padding2D padding = ResolvePadding(window, out.shape[1], out.shape[2], filter.shape[1], filter.shape[2]);
  double* pixel = out.values.data();
  for (int64_t b = 0; b < out.shape[0]; ++b) {
    for (int64_t y = 0; y < out.shape[1]; ++y) {
      const Phase rows(y, padding.top, conv.stride_h);
      for (int64_t x = 0; x < out.shape[2]; ++x, pixel += out.shape[3]) {
        const Phase columns(x, padding.left, conv.stride_w);
        if (bias != nullptr) std::copy(bias->values.begin(), bias->values.end(), pixel);
        int64_t in_y = rows.origin;
        for (int64_t ky = rows.first; ky < filter.shape[1] && in_y >= 0; ky += conv.stride_h, --in_y) {
          if (in_y >= in.shape[1]) continue;
          int64_t in_x = columns.origin;
          for (int64_t kx = columns.first; kx < filter.shape[2] && in_x >= 0; kx += conv.stride_w, --in_x) {
            if (in_x >= in.shape[2]) continue;
            AddTap(&in.values[((b * in.shape[1] + in_y) * in.shape[2] + in_x) * in.shape[3]], filter,
                   ky * filter.shape[2] + kx, pixel);
          }
        }
      }
    }
  }
  ApplyActivation(conv.activation, out.values);
}

}  // namespace hearth
