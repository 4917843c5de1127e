// The attributes of every operation by name, defined once for writing and reading graph texts.
#ifndef HEARTH_CORE_GRAPH_OP_ATTRIBUTES_H_
#define HEARTH_CORE_GRAPH_OP_ATTRIBUTES_H_

#include <type_traits>

#include "core/graph/op.h"

namespace hearth {

// Attributes that only one family has, or that several have in places of their own. Listed are those that have none:
// the graphs of Loop and the functions of Custom have no text.
template <typename Attributes, typename... Families>
concept OneOf = (std::is_same_v<Attributes, Families> || ...);
template <typename Attributes>
requires std::is_empty_v<Attributes> ||
    OneOf<Attributes, Conv2D, ConvInteger, DepthwiseConv2D, Pool2D, Binary, Concat, FullyConnected, Reduce, ArgReduce,
          L2Normalization, Cast, Pack, Reverse, DepthToSpace, SpaceToDepth, SpaceToBatch, TransposeConv,
          MaxPoolArgmax2D, MaxUnpool2D, Rnn, Bitcast, Scatter, Loop, Custom>
void ForOwnAttributes(auto& /*fields*/, Attributes& /*op*/) {}
void ForOwnAttributes(auto& fields, Unary& op) {
  fields.Number("alpha", op.alpha, 0.0f);
}
void ForOwnAttributes(auto& fields, Resize& op) {
  fields.Flag("align_corners", op.align_corners);
  fields.Flag("half_pixel_centers", op.half_pixel_centers);
}
void ForOwnAttributes(auto& fields, Reshape& op) {
  fields.Dims("shape", op.shape);
}
void ForOwnAttributes(auto& fields, Softmax& op) {
  fields.Number("beta", op.beta, 1.0f);
}
void ForOwnAttributes(auto& fields, Pad& op) {
  fields.Number("value", op.value, 0.0);
}
void ForOwnAttributes(auto& fields, TopK& op) {
  fields.Number("k", op.k, 1);
}
void ForOwnAttributes(auto& fields, CumSum& op) {
  fields.Flag("exclusive", op.exclusive);
  fields.Flag("reverse", op.reverse);
}
void ForOwnAttributes(auto& fields, LocalResponseNormalization& op) {
  fields.Number("radius", op.radius, 5);
  fields.Number("bias", op.bias, 1.0f);
  fields.Number("alpha", op.alpha, 1.0f);
  fields.Number("beta", op.beta, 0.5f);
}
void ForOwnAttributes(auto& fields, Transpose& op) {
  fields.Ints("permutation", op.permutation);
}
void ForOwnAttributes(auto& fields, Slice& op) {
  fields.Ints("begin", op.begin);
  fields.Ints("size", op.size);
  fields.Ints("strides", op.strides);
  fields.Dims("shape", op.shape);
}
void ForOwnAttributes(auto& fields, Split& op) {
  fields.Ints("sizes", op.sizes);
}
void ForOwnAttributes(auto& fields, Unpack& op) {
  fields.Number("count", op.count, 1);
}
void ForOwnAttributes(auto& fields, Tile& op) {
  fields.Dims("multiples", op.multiples);
}
void ForOwnAttributes(auto& fields, BroadcastTo& op) {
  fields.Dims("shape", op.shape);
}
void ForOwnAttributes(auto& fields, BatchToSpace& op) {
  fields.Dims("crop_before", op.crop_before);
  fields.Dims("crop_after", op.crop_after);
}
void ForOwnAttributes(auto& fields, MirrorPad& op) {
  fields.Flag("symmetric", op.symmetric);
}
void ForOwnAttributes(auto& fields, Gather& op) {
  fields.Number("batch_dims", op.batch_dims, 0);
}
void ForOwnAttributes(auto& fields, OneHot& op) {
  fields.Number("depth", op.depth, 1);
}
void ForOwnAttributes(auto& fields, BatchMatMul& op) {
  fields.Flag("adjoint_a", op.adjoint_a);
  fields.Flag("adjoint_b", op.adjoint_b);
}
void ForOwnAttributes(auto& fields, DetectionPostProcess& op) {
  fields.Number("max_detections", op.max_detections, 1);
  fields.Number("max_classes_per_detection", op.max_classes_per_detection, 1);
  fields.Number("detections_per_class", op.detections_per_class, 100);
  fields.Number("num_classes", op.num_classes, 1);
  fields.Flag("use_regular_nms", op.use_regular_nms);
  fields.Number("score_threshold", op.score_threshold, 0.0f);
  fields.Number("iou_threshold", op.iou_threshold, 0.0f);
  fields.Number("y_scale", op.y_scale, 1.0f);
  fields.Number("x_scale", op.x_scale, 1.0f);
  fields.Number("h_scale", op.h_scale, 1.0f);
  fields.Number("w_scale", op.w_scale, 1.0f);
}
void ForOwnAttributes(auto& fields, Lstm& op) {
  fields.Number("cell_clip", op.cell_clip, 0.0f);
  fields.Number("proj_clip", op.proj_clip, 0.0f);
}
void ForOwnAttributes(auto& fields, Svdf& op) {
  fields.Number("rank", op.rank, 1);
}
void ForOwnAttributes(auto& fields, MeanVarianceNormalization& op) {
  fields.Number("groups", op.groups, 0);
  fields.Flag("root_mean_square", op.root_mean_square);
  fields.Number("epsilon", op.epsilon, 0.0f);
}
void ForOwnAttributes(auto& fields, Random& op) {
  fields.Dims("shape", op.shape);
  fields.Number("samples", op.samples, 1);
  fields.Number("seed", op.seed, int64_t{0});
  fields.Number("seed2", op.seed2, int64_t{0});
}
void ForOwnAttributes(auto& fields, RandomBits& op) {
  fields.Number("words", op.words, 1);
}
void ForOwnAttributes(auto& fields, NonMaxSuppression& op) {
  fields.Number("most", op.most, 1);
  fields.Flag("lower_index_first", op.lower_index_first);
}
void ForOwnAttributes(auto& fields, UnknownOp& op) {
  fields.Text("op", op.name);
  fields.Text("reason", op.reason);
}

// All attributes, for writing and reading. A `kind` is not among them: the operation's name gives it.
template <typename Attributes>
void ForEachAttribute(auto& fields, Attributes& op) {
  if constexpr (requires { op.kernel_h; }) fields.Size("kernel", op.kernel_h, op.kernel_w, 1);
  if constexpr (requires { op.window; }) {
    fields.Size("stride", op.window.stride_h, op.window.stride_w, 1);
    fields.Size("dilation", op.window.dilation_h, op.window.dilation_w, 1);
    fields.Padding("padding", op.window.padding);
  }
  if constexpr (requires { op.height; }) fields.Size("size", op.height, op.width, 0);
  if constexpr (requires { op.stride_h; }) fields.Size("stride", op.stride_h, op.stride_w, 1);
  if constexpr (requires { op.padding; }) fields.Padding("padding", op.padding);
  if constexpr (requires { op.time_major; }) fields.Flag("time_major", op.time_major);
  if constexpr (requires { op.axis; }) fields.Number("axis", op.axis, Attributes{}.axis);
  if constexpr (requires { op.axes_mask; }) fields.Bits("axes", op.axes_mask);
  if constexpr (requires { op.to; }) fields.Type("to", op.to, DType::kFloat32);
  if constexpr (requires { op.keep_dims; }) fields.Flag("keep_dims", op.keep_dims);
  if constexpr (requires { fields.Number("block", op.block, 2); }) fields.Number("block", op.block, 2);
  if constexpr (requires { op.block.dims(); }) fields.Dims("block", op.block);
  if constexpr (requires { op.before; }) fields.Dims("before", op.before);
  if constexpr (requires { op.after; }) fields.Dims("after", op.after);
  ForOwnAttributes(fields, op);
  if constexpr (requires { op.activation; }) fields.Fused("activation", op.activation);
}

}  // namespace hearth

#endif  // HEARTH_CORE_GRAPH_OP_ATTRIBUTES_H_
