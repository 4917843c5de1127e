// The functions behind operator_table.cc, by family. Semantics: those of TFLite's CPU interpreter.
// Sizes that later arithmetic multiplies are limited here, so that it can't overflow.
#ifndef HEARTH_FRONTENDS_TFLITE_OP_READERS_H_
#define HEARTH_FRONTENDS_TFLITE_OP_READERS_H_

#include "frontends/tflite/operator_view.h"

namespace hearth {

// op_readers_window.cc: convolutions, pooling, and matrix products.
Result<Op> ReadConv2D(const OperatorView& view);
Result<Op> ReadDepthwiseConv2D(const OperatorView& view);
Result<Op> ReadAveragePool2D(const OperatorView& view);
Result<Op> ReadMaxPool2D(const OperatorView& view);
Result<Op> ReadL2Pool2D(const OperatorView& view);
Result<Op> ReadTransposeConv(const OperatorView& view);
Result<Op> ReadFullyConnected(const OperatorView& view);
Result<Op> ReadBatchMatMul(const OperatorView& view);

// op_readers_elementwise.cc
template <UnaryKind kKind>
Result<Op> ReadUnary(const OperatorView&) {
  return Op(Unary{.kind = kKind});
}
template <BinaryKind kKind>
Result<Op> ReadBinary(const OperatorView&) {
  return Op(Binary{.kind = kKind});
}
Result<Op> ReadAdd(const OperatorView& view);
Result<Op> ReadSub(const OperatorView& view);
Result<Op> ReadMul(const OperatorView& view);
Result<Op> ReadDiv(const OperatorView& view);
Result<Op> ReadAddN(const OperatorView& view);
Result<Op> ReadCast(const OperatorView& view);
Result<Op> ReadGelu(const OperatorView& view);
Result<Op> ReadLeakyRelu(const OperatorView& view);
Result<Op> ReadPRelu(const OperatorView& view);
Result<Op> ReadSelect(const OperatorView& view);
Result<Op> ReadSelectV2(const OperatorView& view);
Result<Op> ReadSoftmax(const OperatorView& view);

// op_readers_shape.cc: operators that change shapes.
Result<Op> ReadConcatenation(const OperatorView& view);
Result<Op> ReadExpandDims(const OperatorView& view);
Result<Op> ReadPad(const OperatorView& view);
Result<Op> ReadPadV2(const OperatorView& view);
Result<Op> ReadReshape(const OperatorView& view);
Result<Op> ReadResizeBilinear(const OperatorView& view);
Result<Op> ReadResizeNearestNeighbor(const OperatorView& view);
Result<Op> ReadSqueeze(const OperatorView& view);

// op_readers_detection.cc: a custom operator with FlexBuffers options.
Result<Op> ReadDetectionPostProcess(const OperatorView& view);

// op_readers_movement.cc and op_readers_slice.cc: operators that move elements.
Result<Op> ReadBatchToSpace(const OperatorView& view);
Result<Op> ReadBroadcastTo(const OperatorView& view);
Result<Op> ReadDepthToSpace(const OperatorView& view);
Result<Op> ReadDynamicUpdateSlice(const OperatorView& view);
Result<Op> ReadMirrorPad(const OperatorView& view);
Result<Op> ReadPack(const OperatorView& view);
Result<Op> ReadReverse(const OperatorView& view);
Result<Op> ReadSlice(const OperatorView& view);
Result<Op> ReadSpaceToBatch(const OperatorView& view);
Result<Op> ReadSpaceToDepth(const OperatorView& view);
Result<Op> ReadSplit(const OperatorView& view);
Result<Op> ReadSplitV(const OperatorView& view);
Result<Op> ReadStridedSlice(const OperatorView& view);
Result<Op> ReadTile(const OperatorView& view);
Result<Op> ReadTranspose(const OperatorView& view);
Result<Op> ReadUnpack(const OperatorView& view);
// op_readers_reduce.cc: sums, searches, normalizations and lookups.
Result<Op> ReadReduce(const OperatorView& view, ReduceKind kind);
template <ReduceKind kKind>
Result<Op> ReadReduction(const OperatorView& view) {
  return ReadReduce(view, kKind);
}
Result<Op> ReadArgReduce(const OperatorView& view, ArgKind kind);
template <ArgKind kKind>
Result<Op> ReadArg(const OperatorView& view) {
  return ReadArgReduce(view, kKind);
}
Result<Op> ReadTopK(const OperatorView& view);
Result<Op> ReadCumSum(const OperatorView& view);
Result<Op> ReadLogSoftmax(const OperatorView& view);
Result<Op> ReadL2Normalization(const OperatorView& view);
Result<Op> ReadLocalResponseNormalization(const OperatorView& view);
Result<Op> ReadGather(const OperatorView& view);
Result<Op> ReadEmbeddingLookup(const OperatorView& view);
Result<Op> ReadGatherNd(const OperatorView& view);
Result<Op> ReadOneHot(const OperatorView& view);

// Strides, dilations and windows, in op_readers_window.cc: kMalformedInput if one is below 1 or above kMaxStep.
Status CheckStep(const char* what, int32_t height, int32_t width);

// op_readers_mediapipe.cc: custom operators whose options are C structs.
Result<Op> ReadTransposeConvBias(const OperatorView& view);
Result<Op> ReadMaxPoolArgmax(const OperatorView& view);
Result<Op> ReadMaxUnpool(const OperatorView& view);
Result<Op> ReadResampler(const OperatorView& view);

// op_readers_recurrent.cc: recurrent networks.
Result<Op> ReadLstm(const OperatorView& view);
Result<Op> ReadUnidirectionalSequenceLstm(const OperatorView& view);
Result<Op> ReadRnn(const OperatorView& view);
Result<Op> ReadUnidirectionalSequenceRnn(const OperatorView& view);
Result<Op> ReadSvdf(const OperatorView& view);

}  // namespace hearth

#endif  // HEARTH_FRONTENDS_TFLITE_OP_READERS_H_
