// Operators over rows and whole images: fully connected, softmax, resize, mean, padding.
#include <algorithm>
#include <array>
#include <limits>

#include "backends/cpu/xnnpack/build.h"

namespace hearth {

xnn_status BuildFullyConnected(XnnpackBuild& build) {
  const OutputRange range = RangeOf(build, std::get<FullyConnected>(build.node().op).activation);
  if (!build.is_constant(1) || (build.has_input(2) && !build.is_constant(2))) return kXnnpackRefuses;
  const size_t outputs = build.in_shape(1)[0], depth = build.in_shape(1)[1];
  const size_t rows = static_cast<size_t>(build.in_shape().element_count()) / depth;
  const xnn_status status = xnn_create_fully_connected_nc_f32(
      depth, outputs, depth, outputs, build.inputs[1], build.bias(), range.min, range.max, build.flags, &build.op);
  if (status != xnn_status_success) return status;
  return xnn_setup_fully_connected_nc_f32(build.op, rows, build.inputs[0], build.output(), build.pool);
}

xnn_status BuildResize(XnnpackBuild& build) {
  const auto& resize = std::get<Resize>(build.node().op);
  if (resize.kind != ResizeKind::kBilinear) return kXnnpackRefuses;
  const Shape &in = build.in_shape(), &out = build.out_shape();
  constexpr int32_t kMaxSize = 1 << 24;  // XNNPACK's float coordinates are exact up to here; it refuses more
  if (std::max({in[1], in[2], out[1], out[2]}) >= kMaxSize) return kXnnpackRefuses;
  if (resize.align_corners) {
    build.flags |= XNN_FLAG_ALIGN_CORNERS;
  } else if (!resize.half_pixel_centers) {
    build.flags |= XNN_FLAG_TENSORFLOW_LEGACY_MODE;
  }
  const xnn_status status = xnn_create_resize_bilinear2d_nhwc_f32(in[3], in[3], in[3], build.flags, &build.op);
  if (status != xnn_status_success) return status;
  return xnn_setup_resize_bilinear2d_nhwc_f32(build.op, in[0], in[1], in[2], out[1], out[2], build.inputs[0],
                                              build.output(), build.pool);
}

// XNNPACK has means only over height and width of an image.
xnn_status BuildMean(XnnpackBuild& build) {
  constexpr uint32_t kHeightAndWidth = 0b0110;
  const Shape& in = build.in_shape();
  const auto& reduce = std::get<Reduce>(build.node().op);
  if (reduce.kind != ReduceKind::kMean || in.rank() != 4 || reduce.axes_mask != kHeightAndWidth) return kXnnpackRefuses;
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const xnn_status status =
      xnn_create_global_average_pooling_nwc_f32(in[3], in[3], in[3], -kInfinity, kInfinity, build.flags, &build.op);
  if (status != xnn_status_success) return status;
  return xnn_setup_global_average_pooling_nwc_f32(build.op, in[0], size_t(in[1]) * in[2], build.inputs[0],
                                                  build.output(), build.pool);
}

xnn_status BuildPad(XnnpackBuild& build) {
  const auto& pad = std::get<Pad>(build.node().op);
  const Shape& in = build.in_shape();
  if (in.rank() == 0 || in.rank() > XNN_MAX_TENSOR_DIMS) return kXnnpackRefuses;
  std::array<size_t, Shape::kMaxRank> dims{}, before{}, after{};
  for (int d = 0; d < in.rank(); ++d) {
    dims[d] = in[d];
    before[d] = pad.before[d];
    after[d] = pad.after[d];
  }
  const auto value = static_cast<float>(pad.value);
  const xnn_status status = xnn_create_constant_pad_nd_x32(&value, build.flags, &build.op);
  if (status != xnn_status_success) return status;
  return xnn_setup_constant_pad_nd_x32(build.op, in.rank(), dims.data(), before.data(), after.data(), build.inputs[0],
                                       build.output(), build.pool);
}

// XNNPACK has only one slope for each channel.
xnn_status BuildPRelu(XnnpackBuild& build) {
  const Shape &in = build.in_shape(), &slopes = build.in_shape(1);
  if (in.rank() == 0 || slopes.rank() == 0 || !build.is_constant(1)) return kXnnpackRefuses;
  const int32_t channels = in[in.rank() - 1];
  if (slopes[slopes.rank() - 1] != channels || slopes.element_count() != channels) return kXnnpackRefuses;
  const xnn_status status =
      xnn_create_prelu_nc_f32(channels, channels, channels, build.inputs[1], build.flags, &build.op);
  if (status != xnn_status_success) return status;
  return xnn_setup_prelu_nc_f32(build.op, static_cast<size_t>(in.element_count() / channels), build.inputs[0],
                                build.output(), build.pool);
}

xnn_status BuildDepthToSpace(XnnpackBuild& build) {
  const Shape &in = build.in_shape(), &out = build.out_shape();
  const int32_t block = std::get<DepthToSpace>(build.node().op).block;
  if (block < 2) return kXnnpackRefuses;
  const xnn_status status =
      xnn_create_depth_to_space_nhwc_x32(out[3], in[3], out[3], static_cast<uint32_t>(block), build.flags, &build.op);
  if (status != xnn_status_success) return status;
  return xnn_setup_depth_to_space_nhwc_x32(build.op, in[0], in[1], in[2], build.inputs[0], build.output(), build.pool);
}

}  // namespace hearth
