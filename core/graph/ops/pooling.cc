#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/base/numbers.h"
#include "core/graph/ops/coordinates.h"
#include "core/graph/ops/elementwise_table.h"
#include "core/graph/ops/node_inference.h"
#include "core/graph/ops/op_functions.h"
#include "core/graph/ops/window.h"

namespace hearth {
namespace {

int32_t BeforeFirst(int32_t size, int32_t kernel, int32_t stride) {
  const int64_t missing = int64_t{size - 1} * stride + kernel - int64_t{size} * kernel;
  return static_cast<int32_t>(std::clamp<int64_t>(missing / 2, 0, std::numeric_limits<int32_t>::max()));
}

// Finds the maxima of one window and their indices.
void PoolWindow(const ReferenceTensor& in, int64_t b, const TapRange& rows, const TapRange& columns, int32_t kernel_w,
                double* highest, double* place) {
  const int64_t channels = in.shape[3];
  std::fill_n(highest, channels, static_cast<double>(std::numeric_limits<float>::lowest()));
  std::fill_n(place, channels, 0.0);
  for (int64_t ky = rows.begin; ky < rows.end; ++ky) {
    for (int64_t kx = columns.begin; kx < columns.end; ++kx) {
      const double* element = PixelAt(in, b, rows.origin + ky, columns.origin + kx);
      for (int64_t c = 0; c < channels; ++c) {
        if (element[c] > highest[c]) place[c] = static_cast<double>(ky * kernel_w + kx);
        highest[c] = LargerOf(highest[c], element[c]);
      }
    }
  }
  for (int64_t c = 0; c < channels; ++c) place[c] += 0.1;
}

// The source of an output row or column: lower * (1 - weight) + upper * weight.
struct Sample {
  int64_t lower = 0, upper = 0;
  double weight = 0.0;
};

// TFLite's reference formulas. A half-pixel coordinate before the first or behind the last pixel has both
// neighbors clamped to that pixel, so its weight does not matter.
Sample BilinearSample(const Resize& resize, int32_t out, int32_t out_size, int32_t in_size) {
  const double scale = resize.align_corners && out_size > 1 ? (in_size - 1.0) / (out_size - 1.0)
                                                            : static_cast<double>(in_size) / out_size;
  const double position = resize.half_pixel_centers ? (out + 0.5) * scale - 0.5 : out * scale;
  Sample sample;
  sample.lower = std::clamp<int64_t>(static_cast<int64_t>(std::floor(position)), 0, in_size - 1);
  sample.upper = std::clamp<int64_t>(static_cast<int64_t>(std::ceil(position)), 0, in_size - 1);
  sample.weight = position - static_cast<double>(sample.lower);
  return sample;
}

Sample NearestSample(const Resize& resize, int32_t out, int32_t out_size, int32_t in_size) {
  const int64_t pixel = NearestPixel(resize, out, out_size, in_size);
  return {pixel, pixel, 0.0};
}

std::vector<Sample> SamplesOf(const Resize& resize, int32_t out_size, int32_t in_size) {
  const auto sample_of = resize.kind == ResizeKind::kBilinear ? BilinearSample : NearestSample;
  std::vector<Sample> samples;
  samples.reserve(out_size);
  for (int32_t out = 0; out < out_size; ++out) samples.push_back(sample_of(resize, out, out_size, in_size));
  return samples;
}

}  // namespace

Status InferPool2D(const NodeInference& inference) {
  const auto& pool = inference.op<Pool2D>();
  HEARTH_TRY(CheckImage(inference, 0));
  if (pool.window.dilation_h != 1 || pool.window.dilation_w != 1) {
    return inference.Unsupported("dilation {}x{}; pooling knows only 1x1", pool.window.dilation_h,
                                 pool.window.dilation_w);
  }
  const Padding2D& padding = pool.window.padding;
  if (padding.mode == PaddingMode::kExplicit && (std::max(padding.top, padding.bottom) >= pool.kernel_h ||
                                                 std::max(padding.left, padding.right) >= pool.kernel_w)) {
    return inference.Malformed("padding {},{},{},{} must be smaller than the kernel {}x{}: a window would be empty",
                               padding.top, padding.bottom, padding.left, padding.right, pool.kernel_h, pool.kernel_w);
  }
  HEARTH_ASSIGN(const ImageSize size, InferWindow(inference, pool.window, pool.kernel_h, pool.kernel_w));
  const Shape& in = inference.shape(0);
  return inference.SetOutput(0, {in[0], size.height, size.width, in[3]});
}

void ReferencePool2D(const Node& node, ReferenceInputs inputs, ReferenceOutputs outputs) {
  const auto& pool = std::get<Pool2D>(node.op);
  const ReferenceTensor& in = *inputs[0];
  ReferenceTensor& out = outputs[0];
  const int64_t channels = in.shape[3];
  const bool is_max = pool.kind == PoolKind::kMax, squares = pool.kind == PoolKind::kL2;
  const auto pool_window = [&](int64_t b, const TapRange& rows, const TapRange& columns, int64_t at) {
    double* pixel = out.values.data() + at * channels;
    std::fill_n(pixel, channels, is_max ? std::numeric_limits<double>::lowest() : 0.0);
    for (int64_t in_y = rows.origin + rows.begin; in_y < rows.origin + rows.end; ++in_y) {
      for (int64_t in_x = columns.origin + columns.begin; in_x < columns.origin + columns.end; ++in_x) {
        const double* element = PixelAt(in, b, in_y, in_x);
        for (int64_t c = 0; c < channels; ++c) {
          pixel[c] =
              is_max ? LargerOf(pixel[c], element[c]) : pixel[c] + (squares ? element[c] * element[c] : element[c]);
        }
      }
    }
    if (is_max) return;
    const double count = static_cast<double>(rows.end - rows.begin) * (columns.end - columns.begin);
    for (int64_t c = 0; c < channels; ++c) pixel[c] = squares ? std::sqrt(pixel[c] / count) : pixel[c] / count;
  };
  ForEachWindow(pool.window, pool.kernel_h, pool.kernel_w, in.shape, out.shape, pool_window);
  ApplyActivation(pool.activation, out.values);
}

Status InferMaxPoolArgmax2D(const NodeInference& inference) {
  const auto& pool = inference.op<MaxPoolArgmax2D>();
  HEARTH_TRY(CheckImage(inference, 0));
  if (pool.window.dilation_h != 1 || pool.window.dilation_w != 1 || std::max(pool.kernel_h, pool.kernel_w) > kMaxStep) {
    return inference.Unsupported("a window of {}x{} dilated by {}x{}; pooling knows up to {}x{}, dense", pool.kernel_h,
                                 pool.kernel_w, pool.window.dilation_h, pool.window.dilation_w, kMaxStep, kMaxStep);
  }
  HEARTH_ASSIGN(const ImageSize size, InferWindow(inference, pool.window, pool.kernel_h, pool.kernel_w));
  const Shape& in = inference.shape(0);
  for (size_t i : {0, 1}) HEARTH_TRY(inference.SetOutput(i, {in[0], size.height, size.width, in[3]}));
  return Status::Ok();
}

void ReferenceMaxPoolArgmax2D(const Node& node, ReferenceInputs inputs, ReferenceOutputs outputs) {
  const auto& pool = std::get<MaxPoolArgmax2D>(node.op);
  const ReferenceTensor& in = *inputs[0];
  ForEachWindow(pool.window, pool.kernel_h, pool.kernel_w, in.shape, outputs[0].shape,
                [&](int64_t b, const TapRange& rows, const TapRange& columns, int64_t at) {
                  PoolWindow(in, b, rows, columns, pool.kernel_w, outputs[0].values.data() + at * in.shape[3],
                             outputs[1].values.data() + at * in.shape[3]);
                });
  ApplyActivation(pool.activation, outputs[0].values);
}

Padding2D UnpoolPadding(const MaxUnpool2D& unpool, int32_t height, int32_t width) {
  return {.mode = PaddingMode::kExplicit,
          .top = BeforeFirst(height, unpool.kernel_h, unpool.stride_h),
          .left = BeforeFirst(width, unpool.kernel_w, unpool.stride_w)};
}

Status InferMaxUnpool2D(const NodeInference& inference) {
  const auto& unpool = inference.op<MaxUnpool2D>();
  for (size_t i : {0, 1}) HEARTH_TRY(CheckImage(inference, i));
  const auto [lowest, highest] = std::minmax({unpool.kernel_h, unpool.kernel_w, unpool.stride_h, unpool.stride_w});
  if (lowest < 1 || highest > kMaxStep) {
    return inference.Malformed("a window of {}x{} and a stride of {}x{}; each must be 1 to {}", unpool.kernel_h,
                               unpool.kernel_w, unpool.stride_h, unpool.stride_w, kMaxStep);
  }
  const Shape &in = inference.shape(0), &positions = inference.shape(1);
  if (!(in == positions)) return inference.Malformed("{} indices for {} elements", positions, in);
  const int64_t height = int64_t{in[1]} * unpool.kernel_h, width = int64_t{in[2]} * unpool.kernel_w;
  // Coordinates plus padding must fit into 32 bits.
  const int64_t reach = int64_t{std::max(in[1], in[2])} * highest;
  if (reach > std::numeric_limits<int32_t>::max() / 4)
    return inference.Malformed("an output of {}x{} pixels", height, width);
  return inference.SetOutput(0, {in[0], height, width, in[3]});
}

void ReferenceMaxUnpool2D(const Node& node, ReferenceInputs inputs, ReferenceOutputs outputs) {
  const auto& unpool = std::get<MaxUnpool2D>(node.op);
  const ReferenceTensor &in = *inputs[0], &positions = *inputs[1];
  ReferenceTensor& out = outputs[0];
  const Padding2D padding = UnpoolPadding(unpool, in.shape[1], in.shape[2]);
  const int64_t channels = in.shape[3];
  const auto window = static_cast<double>(int64_t{unpool.kernel_h} * unpool.kernel_w);
  for (int64_t b = 0; b < in.shape[0]; ++b) {
    for (int64_t y = 0; y < in.shape[1]; ++y) {
      for (int64_t x = 0; x < in.shape[2]; ++x) {
        const double *element = PixelAt(in, b, y, x), *position = PixelAt(positions, b, y, x);
        for (int64_t c = 0; c < channels; ++c) {
          if (!(position[c] >= 0.0 && position[c] < window)) continue;
          const auto place = static_cast<int64_t>(std::floor(position[c]));
          const int64_t out_y = y * unpool.stride_h - padding.top + place / unpool.kernel_w;
          const int64_t out_x = x * unpool.stride_w - padding.left + place % unpool.kernel_w;
          if (out_y < 0 || out_y >= out.shape[1] || out_x < 0 || out_x >= out.shape[2]) continue;
          out.values[((b * out.shape[1] + out_y) * out.shape[2] + out_x) * channels + c] = element[c];
        }
      }
    }
  }
}

Status InferResampler(const NodeInference& inference) {
  for (size_t i : {0, 1}) HEARTH_TRY(CheckImage(inference, i));
  const Shape &in = inference.shape(0), &points = inference.shape(1);
  if (points[0] != in[0] || points[3] < 2) {
    return inference.Malformed("points {} for the image {}: needs two coordinates for each point", points, in);
  }
  return inference.SetOutput(0, {in[0], points[1], points[2], in[3]});
}

void ReferenceResampler(const Node& /*node*/, ReferenceInputs inputs, ReferenceOutputs outputs) {
  const ReferenceTensor &in = *inputs[0], &points = *inputs[1];
  const int64_t height = in.shape[1], width = in.shape[2], channels = in.shape[3];
  double* out = outputs[0].values.data();
  for (int64_t b = 0; b < points.shape[0]; ++b) {
    for (int64_t p = 0; p < int64_t{points.shape[1]} * points.shape[2]; ++p, out += channels) {
      const double* point = PixelAt(points, b, p / points.shape[2], p % points.shape[2]);
      const double x = point[0], y = point[1];
      if (!(x > -1.0 && y > -1.0 && x < static_cast<double>(width) && y < static_cast<double>(height))) continue;
      const auto left = static_cast<int64_t>(std::floor(x)), top = static_cast<int64_t>(std::floor(y));
      for (const int64_t iy : {top, top + 1}) {
        for (const int64_t ix : {left, left + 1}) {
          if (iy < 0 || iy >= height || ix < 0 || ix >= width) continue;
          const double weight =
              (1.0 - std::abs(x - static_cast<double>(ix))) * (1.0 - std::abs(y - static_cast<double>(iy)));
          const double* element = PixelAt(in, b, iy, ix);
          for (int64_t c = 0; c < channels; ++c) out[c] += weight * element[c];
        }
      }
    }
  }
}

int64_t NearestPixel(const Resize& resize, int64_t out, int64_t out_size, int64_t in_size) {
  const float scale = resize.align_corners && out_size > 1
                          ? static_cast<float>(in_size - 1) / static_cast<float>(out_size - 1)
                          : static_cast<float>(in_size) / static_cast<float>(out_size);
  const float position = (static_cast<float>(out) + (resize.half_pixel_centers ? 0.5f : 0.0f)) * scale;
  const float pixel = resize.align_corners ? std::round(position) : std::floor(position);
  return std::clamp<int64_t>(static_cast<int64_t>(pixel), 0, in_size - 1);
}

Status InferResize(const NodeInference& inference) {
  const auto& resize = inference.op<Resize>();
  HEARTH_TRY(CheckImage(inference, 0));
  if (resize.height < 1 || resize.width < 1)
    return inference.Malformed("the new size {}x{} must be positive", resize.height, resize.width);
  if (resize.kind == ResizeKind::kBilinear && resize.align_corners && resize.half_pixel_centers)
    return inference.Malformed("align_corners and half_pixel_centers exclude each other");
  const Shape& in = inference.shape(0);
  return inference.SetOutput(0, {in[0], resize.height, resize.width, in[3]});
}

void ReferenceResize(const Node& node, ReferenceInputs inputs, ReferenceOutputs outputs) {
  const auto& resize = std::get<Resize>(node.op);
  const ReferenceTensor& in = *inputs[0];
  ReferenceTensor& out = outputs[0];
  const std::vector<Sample> rows = SamplesOf(resize, out.shape[1], in.shape[1]);
  const std::vector<Sample> columns = SamplesOf(resize, out.shape[2], in.shape[2]);
  const int64_t channels = in.shape[3];
  double* pixel = out.values.data();
  for (int64_t b = 0; b < out.shape[0]; ++b) {
    const auto at = [&](int64_t y, int64_t x) { return PixelAt(in, b, y, x); };
    for (const Sample& row : rows) {
      for (const Sample& column : columns) {
        const double *top_left = at(row.lower, column.lower), *top_right = at(row.lower, column.upper);
        const double *bottom_left = at(row.upper, column.lower), *bottom_right = at(row.upper, column.upper);
        for (int64_t c = 0; c < channels; ++c) {
          const double top = top_left[c] * (1.0 - column.weight) + top_right[c] * column.weight;
          const double bottom = bottom_left[c] * (1.0 - column.weight) + bottom_right[c] * column.weight;
          *pixel++ = top * (1.0 - row.weight) + bottom * row.weight;
        }
      }
    }
  }
}

}  // namespace hearth
