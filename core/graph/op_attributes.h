// The attributes of every operation by name, defined once for writing and reading graph texts.
#ifndef HEARTH_CORE_GRAPH_OP_ATTRIBUTES_H_
#define HEARTH_CORE_GRAPH_OP_ATTRIBUTES_H_

#include "core/graph/op.h"

namespace hearth {

// The attributes of each family, for writing and reading. The kind of Unary, Binary, Pool2D, Resize, Reduce and
// ArgReduce is not among them: the operation's name gives it.
template <typename Fields>
void ForWindow(Fields& fields, Window2D& window) {
  fields.Size("stride", window.stride_h, window.stride_w, 1);
  fields.Size("dilation", window.dilation_h, window.dilation_w, 1);
  fields.Padding("padding", window.padding);
}
template <typename Fields>
void ForEachAttribute(Fields& fields, Conv2D& op) {
  ForWindow(fields, op.window);
  fields.Fused("activation", op.activation);
}
template <typename Fields>
void ForEachAttribute(Fields& fields, DepthwiseConv2D& op) {
  ForWindow(fields, op.window);
  fields.Fused("activation", op.activation);
}
template <typename Fields>
void ForEachAttribute(Fields& fields, Pool2D& op) {
  fields.Size("kernel", op.kernel_h, op.kernel_w, 1);
  ForWindow(fields, op.window);
  fields.Fused("activation", op.activation);
}
template <typename Fields>
void ForEachAttribute(Fields& fields, Unary& op) {
  fields.Number("alpha", op.alpha, 0.0f);
}
template <typename Fields>
void ForEachAttribute(Fields& fields, Binary& op) {
  fields.Fused("activation", op.activation);
}
template <typename Fields>
void ForEachAttribute(Fields& fields, Concat& op) {
  fields.Number("axis", op.axis, -1);
  fields.Fused("activation", op.activation);
}
template <typename Fields>
void ForEachAttribute(Fields& fields, Resize& op) {
  fields.Size("size", op.height, op.width, 0);
  fields.Flag("align_corners", op.align_corners);
  fields.Flag("half_pixel_centers", op.half_pixel_centers);
}
template <typename Fields>
void ForEachAttribute(Fields& fields, Reshape& op) {
  fields.Dims("shape", op.shape);
}
template <typename Fields>
void ForEachAttribute(Fields& fields, Softmax& op) {
  fields.Number("beta", op.beta, 1.0f);
}
template <typename Fields>
void ForEachAttribute(Fields& fields, Pad& op) {
  fields.Dims("before", op.before);
  fields.Dims("after", op.after);
  fields.Number("value", op.value, 0.0);
}
template <typename Fields>
void ForEachAttribute(Fields& fields, FullyConnected& op) {
  fields.Flag("keep_dims", op.keep_dims);
  fields.Fused("activation", op.activation);
}
template <typename Fields>
void ForEachAttribute(Fields& fields, Reduce& op) {
  fields.Bits("axes", op.axes_mask);
  fields.Flag("keep_dims", op.keep_dims);
}
template <typename Fields>
void ForEachAttribute(Fields& fields, ArgReduce& op) {
  fields.Number("axis", op.axis, -1);
}
template <typename Fields>
void ForEachAttribute(Fields& fields, TopK& op) {
  fields.Number("k", op.k, 1);
}
template <typename Fields>
void ForEachAttribute(Fields& fields, CumSum& op) {
  fields.Number("axis", op.axis, 0);
  fields.Flag("exclusive", op.exclusive);
  fields.Flag("reverse", op.reverse);
}
template <typename Fields>
void ForEachAttribute(Fields& /*fields*/, LogSoftmax& /*op*/) {}
template <typename Fields>
void ForEachAttribute(Fields& fields, L2Normalization& op) {
  fields.Fused("activation", op.activation);
}
template <typename Fields>
void ForEachAttribute(Fields& fields, LocalResponseNormalization& op) {
  fields.Number("radius", op.radius, 5);
  fields.Number("bias", op.bias, 1.0f);
  fields.Number("alpha", op.alpha, 1.0f);
  fields.Number("beta", op.beta, 0.5f);
}
template <typename Fields>
void ForEachAttribute(Fields& /*fields*/, Select& /*op*/) {}
template <typename Fields>
void ForEachAttribute(Fields& /*fields*/, SelectRows& /*op*/) {}
template <typename Fields>
void ForEachAttribute(Fields& /*fields*/, PRelu& /*op*/) {}
template <typename Fields>
void ForEachAttribute(Fields& fields, Cast& op) {
  fields.Type("to", op.to, DType::kFloat32);
}
template <typename Fields>
void ForEachAttribute(Fields& /*fields*/, AddN& /*op*/) {}
template <typename Fields>
void ForEachAttribute(Fields& fields, Transpose& op) {
  fields.Ints("permutation", op.permutation);
}
template <typename Fields>
void ForEachAttribute(Fields& fields, Slice& op) {
  fields.Ints("begin", op.begin);
  fields.Ints("size", op.size);
  fields.Ints("strides", op.strides);
  fields.Dims("shape", op.shape);
}
template <typename Fields>
void ForEachAttribute(Fields& fields, Split& op) {
  fields.Number("axis", op.axis, 0);
  fields.Ints("sizes", op.sizes);
}
template <typename Fields>
void ForEachAttribute(Fields& fields, Pack& op) {
  fields.Number("axis", op.axis, 0);
}
template <typename Fields>
void ForEachAttribute(Fields& fields, Unpack& op) {
  fields.Number("axis", op.axis, 0);
  fields.Number("count", op.count, 1);
}
template <typename Fields>
void ForEachAttribute(Fields& fields, Tile& op) {
  fields.Dims("multiples", op.multiples);
}
template <typename Fields>
void ForEachAttribute(Fields& fields, BroadcastTo& op) {
  fields.Dims("shape", op.shape);
}
template <typename Fields>
void ForEachAttribute(Fields& fields, Reverse& op) {
  fields.Bits("axes", op.axes_mask);
}
template <typename Fields>
void ForEachAttribute(Fields& fields, DepthToSpace& op) {
  fields.Number("block", op.block, 2);
}
template <typename Fields>
void ForEachAttribute(Fields& fields, SpaceToDepth& op) {
  fields.Number("block", op.block, 2);
}
template <typename Fields>
void ForEachAttribute(Fields& fields, SpaceToBatch& op) {
  fields.Dims("block", op.block);
  fields.Dims("before", op.before);
  fields.Dims("after", op.after);
}
template <typename Fields>
void ForEachAttribute(Fields& fields, BatchToSpace& op) {
  fields.Dims("block", op.block);
  fields.Dims("crop_before", op.crop_before);
  fields.Dims("crop_after", op.crop_after);
}
template <typename Fields>
void ForEachAttribute(Fields& fields, MirrorPad& op) {
  fields.Dims("before", op.before);
  fields.Dims("after", op.after);
  fields.Flag("symmetric", op.symmetric);
}
template <typename Fields>
void ForEachAttribute(Fields& /*fields*/, DynamicUpdateSlice& /*op*/) {}
template <typename Fields>
void ForEachAttribute(Fields& fields, Gather& op) {
  fields.Number("axis", op.axis, 0);
  fields.Number("batch_dims", op.batch_dims, 0);
}
template <typename Fields>
void ForEachAttribute(Fields& /*fields*/, GatherNd& /*op*/) {}
template <typename Fields>
void ForEachAttribute(Fields& fields, OneHot& op) {
  fields.Number("axis", op.axis, -1);
  fields.Number("depth", op.depth, 1);
}
template <typename Fields>
void ForEachAttribute(Fields& fields, BatchMatMul& op) {
  fields.Flag("adjoint_a", op.adjoint_a);
  fields.Flag("adjoint_b", op.adjoint_b);
}
template <typename Fields>
void ForEachAttribute(Fields& fields, TransposeConv& op) {
  fields.Size("size", op.height, op.width, 0);
  fields.Size("stride", op.stride_h, op.stride_w, 1);
  fields.Padding("padding", op.padding);
  fields.Fused("activation", op.activation);
}
template <typename Fields>
void ForEachAttribute(Fields& fields, MaxPoolArgmax2D& op) {
  fields.Size("kernel", op.kernel_h, op.kernel_w, 1);
  ForWindow(fields, op.window);
  fields.Fused("activation", op.activation);
}
template <typename Fields>
void ForEachAttribute(Fields& fields, MaxUnpool2D& op) {
  fields.Size("kernel", op.kernel_h, op.kernel_w, 1);
  fields.Size("stride", op.stride_h, op.stride_w, 1);
}
template <typename Fields>
void ForEachAttribute(Fields& /*fields*/, Resampler& /*op*/) {}
template <typename Fields>
void ForEachAttribute(Fields& fields, DetectionPostProcess& op) {
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
template <typename Fields>
void ForEachAttribute(Fields& fields, Lstm& op) {
  fields.Flag("time_major", op.time_major);
  fields.Number("cell_clip", op.cell_clip, 0.0f);
  fields.Number("proj_clip", op.proj_clip, 0.0f);
  fields.Fused("activation", op.activation);
}
template <typename Fields>
void ForEachAttribute(Fields& fields, Rnn& op) {
  fields.Flag("time_major", op.time_major);
  fields.Fused("activation", op.activation);
}
template <typename Fields>
void ForEachAttribute(Fields& fields, Svdf& op) {
  fields.Number("rank", op.rank, 1);
  fields.Fused("activation", op.activation);
}
template <typename Fields>
void ForEachAttribute(Fields& fields, MeanVarianceNormalization& op) {
  fields.Bits("axes", op.axes_mask);
  fields.Number("groups", op.groups, 0);
  fields.Flag("root_mean_square", op.root_mean_square);
  fields.Number("epsilon", op.epsilon, 0.0f);
  fields.Fused("activation", op.activation);
}
template <typename Fields>
void ForEachAttribute(Fields& fields, Bitcast& op) {
  fields.Type("to", op.to, DType::kFloat32);
}
template <typename Fields>
void ForEachAttribute(Fields& fields, Random& op) {
  fields.Dims("shape", op.shape);
  fields.Number("samples", op.samples, 1);
  fields.Number("seed", op.seed, int64_t{0});
  fields.Number("seed2", op.seed2, int64_t{0});
}
template <typename Fields>
void ForEachAttribute(Fields& fields, RandomBits& op) {
  fields.Number("words", op.words, 1);
}
template <typename Fields>
void ForEachAttribute(Fields& /*fields*/, Where& /*op*/) {}
template <typename Fields>
void ForEachAttribute(Fields& /*fields*/, Unique& /*op*/) {}
template <typename Fields>
void ForEachAttribute(Fields& fields, NonMaxSuppression& op) {
  fields.Number("most", op.most, 1);
  fields.Flag("lower_index_first", op.lower_index_first);
}
template <typename Fields>
void ForEachAttribute(Fields& /*fields*/, Loop& /*op*/) {}
template <typename Fields>
void ForEachAttribute(Fields& fields, UnknownOp& op) {
  fields.Text("op", op.name);
  fields.Text("reason", op.reason);
}

}  // namespace hearth

#endif  // HEARTH_CORE_GRAPH_OP_ATTRIBUTES_H_
