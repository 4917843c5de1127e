// Convolutions and pooling: operators that move a window over an image.
#include <algorithm>

#include "backends/cpu/xnnpack/build.h"
#include "core/base/numbers.h"

namespace hearth {
namespace {

// The groups of a convolution's channels.
struct Groups {
  int32_t count = 1, in_channels = 0, out_channels = 0;  // channels of one group
};

// XNNPACK lists the addresses of the taps of an image's output pixels. With a window that no usual layer has, that may
// take far more memory than the images.
bool IsListTooLong(int64_t taps, double listed) {
  constexpr int64_t kManyTaps = 32 * 32;
  constexpr double kMostListed = 8 << 20;
  return taps > kManyTaps && listed > kMostListed;
}

bool IsListTooLong(const Shape& out, const Shape& filter, int32_t stride_h = 1, int32_t stride_w = 1) {
  const int64_t taps = int64_t{filter[1]} * filter[2];
  const int64_t pixels = Tiles(out[1], stride_h) * Tiles(out[2], stride_w);
  return IsListTooLong(taps, static_cast<double>(taps) * static_cast<double>(pixels));
}

// Neighbouring windows of a pool share the columns that both cover.
bool IsListTooLong(const Shape& out, const Pool2D& pool) {
  const int64_t taps = int64_t{pool.kernel_h} * pool.kernel_w;
  const int64_t columns = pool.kernel_w + int64_t{out[2] - 1} * std::min(pool.window.stride_w, pool.kernel_w);
  return IsListTooLong(taps, static_cast<double>(out[1]) * pool.kernel_h * static_cast<double>(columns));
}

xnn_status BuildConvolution(XnnpackBuild& build, const Window2D& window, Activation activation, const Groups& groups) {
  const OutputRange range = RangeOf(build, activation);
  if (!build.is_constant(1) || (build.has_input(2) && !build.is_constant(2))) return kXnnpackRefuses;
  const Shape& in = build.in_shape();
  const Shape& filter = build.in_shape(1);
  if (IsListTooLong(build.out_shape(), filter)) return kXnnpackRefuses;
  const Padding2D padding = ResolvePadding(window, in[1], in[2], filter[1], filter[2]);
  const size_t in_channels = size_t(groups.count) * groups.in_channels;
  const size_t out_channels = size_t(groups.count) * groups.out_channels;
  const xnn_status status = xnn_create_convolution2d_nhwc_f32(
      padding.top, padding.right, padding.bottom, padding.left, filter[1], filter[2], window.stride_h, window.stride_w,
      window.dilation_h, window.dilation_w, groups.count, groups.in_channels, groups.out_channels, in_channels,
      out_channels, build.inputs[1], build.bias(), range.min, range.max, build.flags, &build.op);
  if (status != xnn_status_success) return status;
  return xnn_setup_convolution2d_nhwc_f32(build.op, in[0], in[1], in[2], build.inputs[0], build.output(), build.pool);
}

}  // namespace

xnn_status BuildConv2D(XnnpackBuild& build) {
  const auto& conv = std::get<Conv2D>(build.node().op);
  const Shape& filter = build.in_shape(1);
  Groups groups;
  groups.count = build.in_shape()[3] / filter[3];
  groups.in_channels = filter[3];
  groups.out_channels = filter[0] / groups.count;
  return BuildConvolution(build, conv.window, conv.activation, groups);
}

xnn_status BuildDepthwiseConv2D(XnnpackBuild& build) {
  const auto& conv = std::get<DepthwiseConv2D>(build.node().op);
  Groups groups;
  groups.count = build.in_shape()[3];
  groups.in_channels = 1;
  groups.out_channels = build.in_shape(1)[3] / groups.count;
  build.flags |= XNN_FLAG_DEPTHWISE_CONVOLUTION;
  return BuildConvolution(build, conv.window, conv.activation, groups);
}

xnn_status BuildPool2D(XnnpackBuild& build) {
  const auto& pool = std::get<Pool2D>(build.node().op);
  const OutputRange range = RangeOf(build, pool.activation);
  const bool one_element = pool.kernel_h == 1 && pool.kernel_w == 1;
  // XNNPACK has no window of one element, and no L2 pooling.
  if (one_element || pool.kind == PoolKind::kL2) return kXnnpackRefuses;
  if (IsListTooLong(build.out_shape(), pool)) return kXnnpackRefuses;
  const Shape& in = build.in_shape();
  const Padding2D padding = ResolvePadding(pool.window, in[1], in[2], pool.kernel_h, pool.kernel_w);
  const bool is_average = pool.kind == PoolKind::kAverage;
  const xnn_status status =
      is_average
          ? xnn_create_average_pooling2d_nhwc_f32(padding.top, padding.right, padding.bottom, padding.left,
                                                  pool.kernel_h, pool.kernel_w, pool.window.stride_h,
                                                  pool.window.stride_w, in[3], in[3], in[3], range.min, range.max,
                                                  build.flags, &build.op)
          : xnn_create_max_pooling2d_nhwc_f32(padding.top, padding.right, padding.bottom, padding.left, pool.kernel_h,
                                              pool.kernel_w, pool.window.stride_h, pool.window.stride_w, 1, 1, in[3],
                                              in[3], in[3], range.min, range.max, build.flags, &build.op);
  if (status != xnn_status_success) return status;
  const auto set_up = is_average ? xnn_setup_average_pooling2d_nhwc_f32 : xnn_setup_max_pooling2d_nhwc_f32;
  return set_up(build.op, in[0], in[1], in[2], build.inputs[0], build.output(), build.pool);
}

xnn_status BuildTransposeConv(XnnpackBuild& build) {
  const auto& conv = std::get<TransposeConv>(build.node().op);
  const OutputRange range = RangeOf(build, conv.activation);
  if (!build.is_constant(1) || (build.has_input(2) && !build.is_constant(2))) return kXnnpackRefuses;
  const Shape &in = build.in_shape(), &out = build.out_shape(), &filter = build.in_shape(1);
  if (IsListTooLong(out, filter, conv.stride_h, conv.stride_w)) return kXnnpackRefuses;
  const Window2D window{conv.stride_h, conv.stride_w, 1, 1, conv.padding};
  Padding2D padding = ResolvePadding(window, out[1], out[2], filter[1], filter[2]);
  // The part of the output's size that the strides leave open. XNNPACK supports only less than one stride. A smaller
  // output cuts the end off: as padding does.
  int64_t extra_h = out[1] - (int64_t{conv.stride_h} * (in[1] - 1) + filter[1] - padding.top - padding.bottom);
  int64_t extra_w = out[2] - (int64_t{conv.stride_w} * (in[2] - 1) + filter[2] - padding.left - padding.right);
  padding.bottom -= static_cast<int32_t>(std::min<int64_t>(extra_h, 0));
  padding.right -= static_cast<int32_t>(std::min<int64_t>(extra_w, 0));
  extra_h = std::max<int64_t>(extra_h, 0);
  extra_w = std::max<int64_t>(extra_w, 0);
  if (extra_h >= conv.stride_h || extra_w >= conv.stride_w) return kXnnpackRefuses;
  // XNNPACK subtracts strides from the output's size in unsigned numbers: a smaller output crashes its set-up.
  if (out[1] < conv.stride_h || out[2] < conv.stride_w) return kXnnpackRefuses;
  const size_t in_channels = in[3], out_channels = filter[0];
  const xnn_status status = xnn_create_deconvolution2d_nhwc_f32(
      padding.top, padding.right, padding.bottom, padding.left, filter[1], filter[2], conv.stride_h, conv.stride_w, 1,
      1, 1, in_channels, out_channels, in_channels, out_channels, build.inputs[1], build.bias(), range.min, range.max,
      build.flags, &build.op);
  if (status != xnn_status_success) return status;
  return xnn_setup_deconvolution2d_nhwc_f32(build.op, in[0], in[1], in[2], static_cast<uint32_t>(extra_h),
                                            static_cast<uint32_t>(extra_w), build.inputs[0], build.output(),
                                            build.pool);
}

}  // namespace hearth
