#include <vector>

#include "core/graph/ops/elementwise_table.h"
#include "core/graph/ops/op_functions.h"
#include "core/graph/ops/window.h"

namespace hearth {
namespace {

struct ImageView {  // [b,h,w,c] over a reference tensor
  explicit ImageView(const ReferenceTensor& tensor)
      : data(tensor.values.data()), h(tensor.shape[1]), w(tensor.shape[2]), c(tensor.shape[3]) {}
  const double* at(int64_t b, int64_t y, int64_t x) const { return data + ((b * h + y) * w + x) * c; }

  const double* data;
  int64_t h, w, c;
};

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

void StartFromBias(const ReferenceTensor* bias, std::span<double> pixel) {
  if (bias == nullptr) {
    std::fill(pixel.begin(), pixel.end(), 0.0);
  } else {
    std::copy(bias->values.begin(), bias->values.end(), pixel.begin());
  }
}

// Calls add(out_pixel, in_pixel, tap index) for every output pixel and every tap inside the image.
template <typename Add>
void ForEachTap(const Window2D& window, int32_t kernel_h, int32_t kernel_w, const ReferenceTensor& in,
                const ReferenceTensor* bias, ReferenceTensor& out, Add add) {
  const ImageView image(in);
  const Padding2D padding = ResolvePadding(window, in.shape[1], in.shape[2], kernel_h, kernel_w);
  const int64_t channels = out.shape[3];
  double* pixel = out.values.data();
  for (int32_t b = 0; b < out.shape[0]; ++b) {
    for (int32_t y = 0; y < out.shape[1]; ++y) {
      const TapRange rows = TapsInside(y, window.stride_h, padding.top, window.dilation_h, kernel_h, in.shape[1]);
      for (int32_t x = 0; x < out.shape[2]; ++x, pixel += channels) {
        const TapRange columns = TapsInside(x, window.stride_w, padding.left, window.dilation_w, kernel_w, in.shape[2]);
        StartFromBias(bias, {pixel, static_cast<size_t>(channels)});
        for (int32_t ky = rows.begin; ky < rows.end; ++ky) {
          const int64_t in_y = rows.origin + int64_t{ky} * window.dilation_h;
          for (int32_t kx = columns.begin; kx < columns.end; ++kx) {
            const int64_t in_x = columns.origin + int64_t{kx} * window.dilation_w;
            add(pixel, image.at(b, in_y, in_x), int64_t{ky} * kernel_w + kx);
          }
        }
      }
    }
  }
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

}  // namespace

Status InferConv2D(const NodeInference& inference) {
  const auto& conv = inference.op<Conv2D>();
  for (size_t i : {0, 1}) {
    HEARTH_TRY(inference.CheckRank(i, 4));
    HEARTH_TRY(inference.CheckReal(i));
  }
  const Shape& in = inference.shape(0);
  const Shape& filter = inference.shape(1);
  if (in[3] < 1 || in[3] % filter[3] != 0) {
    return inference.Fail(StatusCode::kMalformedInput,
                          "the filter {} reads {} channels, which does not divide the input's {} ({})",
                          filter.ToString(), filter[3], in[3], in.ToString());
  }
  const int32_t groups = in[3] / filter[3];
  if (filter[0] % groups != 0) {
    return inference.Fail(StatusCode::kMalformedInput, "{} output channels can't be split into {} groups", filter[0],
                          groups);
  }
  if (inference.HasInput(2)) HEARTH_TRY(inference.CheckBias(2, filter[0]));
  HEARTH_ASSIGN(const ImageSize size, InferWindow(inference, conv.window, filter[1], filter[2]));
  return inference.SetOutput(0, {in[0], size.height, size.width, filter[0]});
}

void ReferenceConv2D(const Node& node, ReferenceInputs inputs, ReferenceOutputs outputs) {
  const auto& conv = std::get<Conv2D>(node.op);
  const ReferenceTensor& filter = *inputs[1];
  const int64_t group_in = filter.shape[3];
  const int64_t groups = inputs[0]->shape[3] / group_in;
  const int64_t group_out = filter.shape[0] / groups;
  const int64_t taps = int64_t{filter.shape[1]} * filter.shape[2];
  const std::vector<double> weights = OutputsInnermost(filter, groups);
  const ReferenceTensor* bias = inputs.size() > 2 ? inputs[2] : nullptr;
  ForEachTap(conv.window, filter.shape[1], filter.shape[2], *inputs[0], bias, outputs[0],
             [&](double* out, const double* in, int64_t tap) {
               for (int64_t g = 0; g < groups; ++g) {
                 AddMatrixProduct(in + g * group_in, group_in, &weights[(g * taps + tap) * group_in * group_out],
                                  group_out, out + g * group_out);
               }
             });
  ApplyActivation(conv.activation, outputs[0].values);
}

Status InferDepthwiseConv2D(const NodeInference& inference) {
  const auto& conv = inference.op<DepthwiseConv2D>();
  for (size_t i : {0, 1}) {
    HEARTH_TRY(inference.CheckRank(i, 4));
    HEARTH_TRY(inference.CheckReal(i));
  }
  const Shape& in = inference.shape(0);
  const Shape& filter = inference.shape(1);
  if (filter[0] != 1 || in[3] < 1 || filter[3] % in[3] != 0) {
    return inference.Fail(StatusCode::kMalformedInput,
                          "the filter {} must be [1, height, width, a multiple of the input's {} channels]",
                          filter.ToString(), in[3]);
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
  const ReferenceTensor* bias = inputs.size() > 2 ? inputs[2] : nullptr;
  ForEachTap(conv.window, filter.shape[1], filter.shape[2], *inputs[0], bias, outputs[0],
             [&](double* out, const double* in, int64_t tap) {
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

}  // namespace hearth
