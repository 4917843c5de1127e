#include <algorithm>
#include <cmath>
#include <vector>

#include "core/graph/ops/elementwise_table.h"
#include "core/graph/ops/op_functions.h"
#include "core/graph/ops/window.h"
#include "core/graph/quantize.h"

namespace hearth {
namespace {

// [O,kh,kw,I] -> [groups][kh][kw][I][O/groups], so that the innermost loop runs over outputs.
std::vector<double> OutputsInnermost(const ReferenceTensor& filter, int64_t groups) {
  const int64_t group_out = filter.shape[0] / groups;
  const int64_t taps_in = int64_t{filter.shape[1]} * filter.shape[2] * filter.shape[3];
  std::vector<double> packed(filter.values.size());
  for (int64_t g = 0; g < groups; ++g) {
    for (int64_t o = 0; o < group_out; ++o) {
      const double* from = &filter.values[(g * group_out + o) * taps_in];
      double* to = &packed[g * taps_in * group_out + o];
      for (int64_t k = 0; k < taps_in; ++k) to[k * group_out] = from[k];
    }
  }
  return packed;
}

// Fills each pixel of `out`, which is zeros, with the bias, if there is one.
void StartFromBias(ReferenceInputs inputs, ReferenceTensor& out) {
  if (inputs.size() < 3 || inputs[2] == nullptr) return;
  const std::vector<double>& bias = inputs[2]->values;
  for (auto pixel = out.values.begin(); pixel != out.values.end(); pixel += out.shape[3])
    std::ranges::copy(bias, pixel);
}

// Calls add(out_pixel, in_pixel, tap index) for every output pixel and every tap of the filter inside the image.
template <typename Add>
void ForEachTap(const Window2D& window, ReferenceInputs inputs, ReferenceTensor& out, Add add) {
  const ReferenceTensor& in = *inputs[0];
  const int32_t kernel_h = inputs[1]->shape[1], kernel_w = inputs[1]->shape[2];
  StartFromBias(inputs, out);
  ForEachWindow(window, kernel_h, kernel_w, in.shape, out.shape,
                [&](int64_t b, const TapRange& rows, const TapRange& columns, int64_t at) {
                  double* pixel = out.values.data() + at * out.shape[3];
                  for (int32_t ky = rows.begin; ky < rows.end; ++ky) {
                    const int64_t in_y = rows.origin + int64_t{ky} * window.dilation_h;
                    for (int32_t kx = columns.begin; kx < columns.end; ++kx) {
                      const int64_t in_x = columns.origin + int64_t{kx} * window.dilation_w;
                      add(pixel, PixelAt(in, b, in_y, in_x), int64_t{ky} * kernel_w + kx);
                    }
                  }
                });
}

// sum[o] += sum over i of in[i] * weights[i][o]. Four inputs at a time: `sum` is read and written a quarter as often.
void AddMatrixProduct(const double* in, int64_t in_count, const double* weights, int64_t out_count, double* sum) {
  int64_t i = 0;
  for (; i + 4 <= in_count; i += 4) {
    const double x0 = in[i], x1 = in[i + 1], x2 = in[i + 2], x3 = in[i + 3];
    const double* w0 = weights + i * out_count;
    const double *w1 = w0 + out_count, *w2 = w1 + out_count, *w3 = w2 + out_count;
    for (int64_t o = 0; o < out_count; ++o) sum[o] += (x0 * w0[o] + x1 * w1[o]) + (x2 * w2[o] + x3 * w3[o]);
  }
  for (; i < in_count; ++i) {
    const double* w = weights + i * out_count;
    for (int64_t o = 0; o < out_count; ++o) sum[o] += in[i] * w[o];
  }
}

constexpr int32_t kMaxPadding = 1 << 28;  // a coordinate plus padding stays within 32 bits
constexpr int64_t kMaxSide = 1 << 28;     // of the output image

// Output size along one axis, as in MediaPipe's Convolution2DTransposeBias.
int64_t EnlargedSize(PaddingMode mode, int32_t in, int32_t kernel, int32_t stride, int32_t before, int32_t after) {
  const int64_t covered = int64_t{stride} * (in - 1);
  if (mode == PaddingMode::kSame) return covered + std::min(kernel, (in - 1) % stride + 1);
  return covered + kernel - (mode == PaddingMode::kExplicit ? int64_t{before} + after : 0);
}

Status CheckAttributes(const NodeInference& inference, const TransposeConv& conv) {
  if (std::min(conv.stride_h, conv.stride_w) < 1 || std::max(conv.stride_h, conv.stride_w) > kMaxStep)
    return inference.Malformed("stride {}x{}; each must be 1 to {}", conv.stride_h, conv.stride_w, kMaxStep);
  const Padding2D& padding = conv.padding;
  if (std::min({padding.top, padding.bottom, padding.left, padding.right}) < 0 ||
      std::max({padding.top, padding.bottom, padding.left, padding.right}) > kMaxPadding) {
    return inference.Malformed("padding {},{},{},{}; each must be 0 to {}", padding.top, padding.bottom, padding.left,
                               padding.right, kMaxPadding);
  }
  const bool computed = conv.height == 0 && conv.width == 0;
  if (!computed && (conv.height < 1 || conv.width < 1))
    return inference.Malformed("an output of {}x{} pixels", conv.height, conv.width);
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

// Of an image and a filter of rank 4.
Status InferImage(const NodeInference& inference, const Window2D& window) {
  const Shape& in = inference.shape(0);
  const Shape& filter = inference.shape(1);
  if (in[3] < 1 || in[3] % filter[3] != 0) {
    return inference.Malformed("the filter {} reads {} channels, which does not divide the input's {} ({})", filter,
                               filter[3], in[3], in);
  }
  const int32_t groups = in[3] / filter[3];
  if (filter[0] % groups != 0)
    return inference.Malformed("{} output channels can't be split into {} groups", filter[0], groups);
  HEARTH_ASSIGN(const ImageSize size, InferWindow(inference, window, filter[1], filter[2]));
  return inference.SetOutput(0, {in[0], size.height, size.width, filter[0]});
}

bool HasEightBits(const TensorDesc& desc) {
  return desc.dtype == DType::kInt8 || desc.dtype == DType::kUInt8;
}

}  // namespace

Status InferConv2D(const NodeInference& inference) {
  for (size_t i : {0, 1}) HEARTH_TRY(CheckImage(inference, i));
  if (inference.HasInput(2)) HEARTH_TRY(inference.CheckBias(2, inference.shape(1)[0]));
  return InferImage(inference, inference.op<Conv2D>().window);
}

void ReferenceConv2D(const Node& node, ReferenceInputs inputs, ReferenceOutputs outputs) {
  const auto& conv = std::get<Conv2D>(node.op);
  const ReferenceTensor& filter = *inputs[1];
  const int64_t group_in = filter.shape[3];
  const int64_t groups = inputs[0]->shape[3] / group_in;
  const int64_t group_out = filter.shape[0] / groups;
  const int64_t taps = int64_t{filter.shape[1]} * filter.shape[2];
  const std::vector<double> weights = OutputsInnermost(filter, groups);
  ForEachTap(conv.window, inputs, outputs[0], [&](double* out, const double* in, int64_t tap) {
    for (int64_t g = 0; g < groups; ++g) {
      AddMatrixProduct(in + g * group_in, group_in, &weights[(g * taps + tap) * group_in * group_out], group_out,
                       out + g * group_out);
    }
  });
  ApplyActivation(conv.activation, outputs[0].values);
}

Status InferDepthwiseConv2D(const NodeInference& inference) {
  const auto& conv = inference.op<DepthwiseConv2D>();
  for (size_t i : {0, 1}) HEARTH_TRY(CheckImage(inference, i));
  const Shape& in = inference.shape(0);
  const Shape& filter = inference.shape(1);
  if (filter[0] != 1 || in[3] < 1 || filter[3] % in[3] != 0) {
    return inference.Malformed("the filter {} must be [1, height, width, a multiple of the input's {} channels]",
                               filter, in[3]);
  }
  if (inference.HasInput(2)) HEARTH_TRY(inference.CheckBias(2, filter[3]));
  HEARTH_ASSIGN(const ImageSize size, InferWindow(inference, conv.window, filter[1], filter[2]));
  return inference.SetOutput(0, {in[0], size.height, size.width, filter[3]});
}

void ReferenceDepthwiseConv2D(const Node& node, ReferenceInputs inputs, ReferenceOutputs outputs) {
  const auto& conv = std::get<DepthwiseConv2D>(node.op);
  const ReferenceTensor& filter = *inputs[1];
  const int64_t in_channels = inputs[0]->shape[3];
  const int64_t multiplier = filter.shape[3] / in_channels;
  ForEachTap(conv.window, inputs, outputs[0], [&](double* out, const double* in, int64_t tap) {
    const double* weights = &filter.values[tap * filter.shape[3]];
    if (multiplier == 1) {  // apart, so that the loop vectorizes
      for (int64_t c = 0; c < in_channels; ++c) out[c] += in[c] * weights[c];
      return;
    }
    for (int64_t c = 0; c < in_channels; ++c) {
      for (int64_t o = c * multiplier; o < (c + 1) * multiplier; ++o) out[o] += in[c] * weights[o];
    }
  });
  ApplyActivation(conv.activation, outputs[0].values);
}

Status InferConvInteger(const NodeInference& inference) {
  const TensorDesc &x = inference.input(0), &weights = inference.input(1);
  const std::optional<Quantization>& grid = weights.quantization;
  const bool has_grid = grid && std::ranges::all_of(grid->scales, [](float scale) { return scale == 1; }) &&
                        (grid->zero_points.size() == 1 || grid->dimension == 0);
  if (!HasEightBits(x) || IsQuantized(x) || !HasEightBits(weights) || !has_grid ||
      !inference.graph().IsConstant(inference.node().inputs[1])) {
    return inference.Unsupported(
        "x needs plain 8-bit integers, and constant weights of 8 bits scale 1 and zero points of results");
  }
  const bool has_zero = inference.HasInput(2);
  if (has_zero && (inference.input(2) != TensorDesc{x.dtype, Shape(), std::nullopt}))
    return inference.Malformed("its zero point is no {} number", DTypeName(x.dtype));
  inference.SetOutputType(0, DType::kInt32);
  if (weights.shape.rank() == 4) {
    HEARTH_TRY(inference.CheckRank(0, 4));
    return InferImage(inference, inference.op<ConvInteger>().window);
  }
  HEARTH_TRY(inference.CheckRank(1, 2));
  Shape out = x.shape;
  if (out.rank() == 0 || out[out.rank() - 1] != weights.shape[1])
    return inference.Malformed("rows of {} by weights {}", out, weights.shape);
  out[out.rank() - 1] = weights.shape[0];
  return inference.SetOutput(0, out);
}

void ReferenceConvInteger(const Node& node, ReferenceInputs inputs, ReferenceOutputs outputs) {
  ReferenceTensor centered = *inputs[0];
  const double zero = inputs.size() > 2 && inputs[2] != nullptr ? inputs[2]->values[0] : 0.0;
  for (double& number : centered.values) number -= zero;
  const ReferenceTensor* const factors[] = {&centered, inputs[1]};
  if (inputs[1]->shape.rank() == 4) {
    ReferenceConv2D({.op = Conv2D{std::get<ConvInteger>(node.op).window}}, factors, outputs);
  } else {
    ReferenceFullyConnected({.op = FullyConnected{.keep_dims = true}}, factors, outputs);
  }
  for (double& sum : outputs[0].values) sum -= 0x1p32 * std::floor((sum + 0x1p31) / 0x1p32);
}

Status InferTransposeConv(const NodeInference& inference) {
  const auto& conv = inference.op<TransposeConv>();
  for (size_t i : {0, 1}) HEARTH_TRY(CheckImage(inference, i));
  HEARTH_TRY(CheckAttributes(inference, conv));
  const Shape &in = inference.shape(0), &filter = inference.shape(1);
  if (filter[3] != in[3]) {
    return inference.Malformed("the filter {} reads {} channels, the input {} has {}", filter, filter[3], in, in[3]);
  }
  if (inference.HasInput(2)) HEARTH_TRY(inference.CheckBias(2, filter[0]));
  const Padding2D& padding = conv.padding;
  int64_t height = conv.height, width = conv.width;
  if (height == 0) {
    height = EnlargedSize(padding.mode, in[1], filter[1], conv.stride_h, padding.top, padding.bottom);
    width = EnlargedSize(padding.mode, in[2], filter[2], conv.stride_w, padding.left, padding.right);
  }
  if (height < 1 || width < 1 || height > kMaxSide || width > kMaxSide) {
    return inference.Malformed("an output of {}x{} pixels (input {}, filter {})", height, width, in, filter);
  }
  return inference.SetOutput(0, {in[0], height, width, filter[0]});
}

void ReferenceTransposeConv(const Node& node, ReferenceInputs inputs, ReferenceOutputs outputs) {
  const auto& conv = std::get<TransposeConv>(node.op);
  const ReferenceTensor &in = *inputs[0], &filter = *inputs[1];
  ReferenceTensor& out = outputs[0];
  StartFromBias(inputs, out);
  const Window2D window = {.stride_h = conv.stride_h, .stride_w = conv.stride_w, .padding = conv.padding};
  const Padding2D padding = ResolvePadding(window, out.shape[1], out.shape[2], filter.shape[1], filter.shape[2]);
  double* pixel = out.values.data();
  for (int64_t b = 0; b < out.shape[0]; ++b) {
    for (int64_t y = 0; y < out.shape[1]; ++y) {
      const Phase rows(y, padding.top, conv.stride_h);
      for (int64_t x = 0; x < out.shape[2]; ++x, pixel += out.shape[3]) {
        const Phase columns(x, padding.left, conv.stride_w);
        int64_t in_y = rows.origin;
        for (int64_t ky = rows.first; ky < filter.shape[1] && in_y >= 0; ky += conv.stride_h, --in_y) {
          if (in_y >= in.shape[1]) continue;
          int64_t in_x = columns.origin;
          for (int64_t kx = columns.first; kx < filter.shape[2] && in_x >= 0; kx += conv.stride_w, --in_x) {
            if (in_x >= in.shape[2]) continue;
            AddTap(PixelAt(in, b, in_y, in_x), filter, ky * filter.shape[2] + kx, pixel);
          }
        }
      }
    }
  }
  ApplyActivation(conv.activation, out.values);
}

}  // namespace hearth
