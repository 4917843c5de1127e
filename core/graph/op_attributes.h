// The attributes of every operation by name, defined once for writing and reading graph texts.
#ifndef HEARTH_CORE_GRAPH_OP_ATTRIBUTES_H_
#define HEARTH_CORE_GRAPH_OP_ATTRIBUTES_H_

#include <type_traits>

#include "core/graph/op.h"

namespace hearth {

// The attributes of each family, for writing and reading. The kind of Unary, Binary, Pool2D, Resize, Reduce and
// ArgReduce is not among them: the operation's name gives it.
void ForWindow(auto& fields, Window2D& window) {
  fields.Size("stride", window.stride_h, window.stride_w, 1);
  fields.Size("dilation", window.dilation_h, window.dilation_w, 1);
  fields.Padding("padding", window.padding);
}
template <typename Attributes>
requires std::is_empty_v<Attributes>
void ForEachAttribute(auto& /*fields*/, Attributes& /*op*/) {}
void ForEachAttribute(auto& /*fields*/, Loop& /*op*/) {}    // its graphs have no text
void ForEachAttribute(auto& /*fields*/, Custom& /*op*/) {}  // nor have its functions
void ForEachAttribute(auto& fields, Conv2D& op) {
  ForWindow(fields, op.window);
  fields.Fused("activation", op.activation);
}
void ForEachAttribute(auto& fields, ConvInteger& op) {
  ForWindow(fields, op.window);
}
void ForEachAttribute(auto& fields, DepthwiseConv2D& op) {
  ForWindow(fields, op.window);
  fields.Fused("activation", op.activation);
}
void ForEachAttribute(auto& fields, Pool2D& op) {
  fields.Size("kernel", op.kernel_h, op.kernel_w, 1);
  ForWindow(fields, op.window);
  fields.Fused("activation", op.activation);
}
void ForEachAttribute(auto& fields, Unary& op) {
  fields.Number("alpha", op.alpha, 0.0f);
}
void ForEachAttribute(auto& fields, Binary& op) {
  fields.Fused("activation", op.activation);
}
void ForEachAttribute(auto& fields, Concat& op) {
  fields.Number("axis", op.axis, -1);
  fields.Fused("activation", op.activation);
}
void ForEachAttribute(auto& fields, Resize& op) {
  fields.Size("size", op.height, op.width, 0);
  fields.Flag("align_corners", op.align_corners);
  fields.Flag("half_pixel_centers", op.half_pixel_centers);
}
void ForEachAttribute(auto& fields, Reshape& op) {
  fields.Dims("shape", op.shape);
}
void ForEachAttribute(auto& fields, Softmax& op) {
  fields.Number("beta", op.beta, 1.0f);
}
void ForEachAttribute(auto& fields, Pad& op) {
  fields.Dims("before", op.before);
  fields.Dims("after", op.after);
  fields.Number("value", op.value, 0.0);
}
void ForEachAttribute(auto& fields, FullyConnected& op) {
  fields.Flag("keep_dims", op.keep_dims);
  fields.Fused("activation", op.activation);
}
void ForEachAttribute(auto& fields, Reduce& op) {
  fields.Bits("axes", op.axes_mask);
  fields.Flag("keep_dims", op.keep_dims);
}
void ForEachAttribute(auto& fields, ArgReduce& op) {
  fields.Number("axis", op.axis, -1);
}
void ForEachAttribute(auto& fields, TopK& op) {
  fields.Number("k", op.k, 1);
}
void ForEachAttribute(auto& fields, CumSum& op) {
  fields.Number("axis", op.axis, 0);
  fields.Flag("exclusive", op.exclusive);
  fields.Flag("reverse", op.reverse);
}
void ForEachAttribute(auto& fields, L2Normalization& op) {
  fields.Fused("activation", op.activation);
}
void ForEachAttribute(auto& fields, LocalResponseNormalization& op) {
  fields.Number("radius", op.radius, 5);
  fields.Number("bias", op.bias, 1.0f);
  fields.Number("alpha", op.alpha, 1.0f);
  fields.Number("beta", op.beta, 0.5f);
}
void ForEachAttribute(auto& fields, Cast& op) {
  fields.Type("to", op.to, DType::kFloat32);
}
void ForEachAttribute(auto& fields, Transpose& op) {
  fields.Ints("permutation", op.permutation);
}
void ForEachAttribute(auto& fields, Slice& op) {
  fields.Ints("begin", op.begin);
  fields.Ints("size", op.size);
  fields.Ints("strides", op.strides);
  fields.Dims("shape", op.shape);
}
void ForEachAttribute(auto& fields, Split& op) {
  fields.Number("axis", op.axis, 0);
  fields.Ints("sizes", op.sizes);
}
void ForEachAttribute(auto& fields, Pack& op) {
  fields.Number("axis", op.axis, 0);
}
void ForEachAttribute(auto& fields, Unpack& op) {
  fields.Number("axis", op.axis, 0);
  fields.Number("count", op.count, 1);
}
void ForEachAttribute(auto& fields, Tile& op) {
  fields.Dims("multiples", op.multiples);
}
void ForEachAttribute(auto& fields, BroadcastTo& op) {
  fields.Dims("shape", op.shape);
}
void ForEachAttribute(auto& fields, Reverse& op) {
  fields.Bits("axes", op.axes_mask);
}
void ForEachAttribute(auto& fields, DepthToSpace& op) {
  fields.Number("block", op.block, 2);
}
void ForEachAttribute(auto& fields, SpaceToDepth& op) {
  fields.Number("block", op.block, 2);
}
void ForEachAttribute(auto& fields, SpaceToBatch& op) {
  fields.Dims("block", op.block);
  fields.Dims("before", op.before);
  fields.Dims("after", op.after);
}
void ForEachAttribute(auto& fields, BatchToSpace& op) {
  fields.Dims("block", op.block);
  fields.Dims("crop_before", op.crop_before);
  fields.Dims("crop_after", op.crop_after);
}
void ForEachAttribute(auto& fields, MirrorPad& op) {
  fields.Dims("before", op.before);
  fields.Dims("after", op.after);
  fields.Flag("symmetric", op.symmetric);
}
void ForEachAttribute(auto& fields, Gather& op) {
  fields.Number("axis", op.axis, 0);
  fields.Number("batch_dims", op.batch_dims, 0);
}
void ForEachAttribute(auto& fields, OneHot& op) {
  fields.Number("axis", op.axis, -1);
  fields.Number("depth", op.depth, 1);
}
void ForEachAttribute(auto& fields, BatchMatMul& op) {
  fields.Flag("adjoint_a", op.adjoint_a);
  fields.Flag("adjoint_b", op.adjoint_b);
}
void ForEachAttribute(auto& fields, TransposeConv& op) {
  fields.Size("size", op.height, op.width, 0);
  fields.Size("stride", op.stride_h, op.stride_w, 1);
  fields.Padding("padding", op.padding);
  fields.Fused("activation", op.activation);
}
void ForEachAttribute(auto& fields, MaxPoolArgmax2D& op) {
  fields.Size("kernel", op.kernel_h, op.kernel_w, 1);
  ForWindow(fields, op.window);
  fields.Fused("activation", op.activation);
}
void ForEachAttribute(auto& fields, MaxUnpool2D& op) {
  fields.Size("kernel", op.kernel_h, op.kernel_w, 1);
  fields.Size("stride", op.stride_h, op.stride_w, 1);
}
void ForEachAttribute(auto& fields, DetectionPostProcess& op) {
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
void ForEachAttribute(auto& fields, Lstm& op) {
  fields.Flag("time_major", op.time_major);
  fields.Number("cell_clip", op.cell_clip, 0.0f);
  fields.Number("proj_clip", op.proj_clip, 0.0f);
  fields.Fused("activation", op.activation);
}
void ForEachAttribute(auto& fields, Rnn& op) {
  fields.Flag("time_major", op.time_major);
  fields.Fused("activation", op.activation);
}
void ForEachAttribute(auto& fields, Svdf& op) {
  fields.Number("rank", op.rank, 1);
  fields.Fused("activation", op.activation);
}
void ForEachAttribute(auto& fields, MeanVarianceNormalization& op) {
  fields.Bits("axes", op.axes_mask);
  fields.Number("groups", op.groups, 0);
  fields.Flag("root_mean_square", op.root_mean_square);
  fields.Number("epsilon", op.epsilon, 0.0f);
  fields.Fused("activation", op.activation);
}
void ForEachAttribute(auto& fields, Bitcast& op) {
  fields.Type("to", op.to, DType::kFloat32);
}
void ForEachAttribute(auto& fields, Random& op) {
  fields.Dims("shape", op.shape);
  fields.Number("samples", op.samples, 1);
  fields.Number("seed", op.seed, int64_t{0});
  fields.Number("seed2", op.seed2, int64_t{0});
}
void ForEachAttribute(auto& fields, RandomBits& op) {
  fields.Number("words", op.words, 1);
}
void ForEachAttribute(auto& /*fields*/, Scatter& /*op*/) {}  // the name tells its kind
void ForEachAttribute(auto& fields, NonMaxSuppression& op) {
  fields.Number("most", op.most, 1);
  fields.Flag("lower_index_first", op.lower_index_first);
}
void ForEachAttribute(auto& fields, UnknownOp& op) {
  fields.Text("op", op.name);
  fields.Text("reason", op.reason);
}

}  // namespace hearth

#endif  // HEARTH_CORE_GRAPH_OP_ATTRIBUTES_H_
