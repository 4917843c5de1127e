// The functions behind operator_table.cc, by file. Semantics: those of TFLite's CPU interpreter.
// Sizes that later arithmetic multiplies are limited here, so that it can't overflow.
#ifndef HEARTH_FRONTENDS_TFLITE_OP_READERS_H_
#define HEARTH_FRONTENDS_TFLITE_OP_READERS_H_

#include "frontends/tflite/operator_view.h"
#include "frontends/writer/expansions.h"

namespace hearth {

// ---- Operators that become one node ----

template <typename T>
Result<Op> ReadPlain(const OperatorView&) {
  return Op(T{});
}
template <UnaryKind kKind>
Result<Op> ReadUnary(const OperatorView&) {
  return Op(Unary{.kind = kKind});
}
template <BinaryKind kKind>
Result<Op> ReadBinary(const OperatorView&) {
  return Op(Binary{.kind = kKind});
}
template <typename Options, BinaryKind kKind>
Result<Op> ReadActivated(const OperatorView& view) {
  HEARTH_ASSIGN(const Options* options, view.Options<Options>());
  HEARTH_ASSIGN(const Activation activation, ReadActivation(options->fused_activation_function()));
  return Op(Binary{kKind, activation});
}
// A layer whose attribute is its activation.
template <typename Options, typename Layer>
Result<Op> ReadLayer(const OperatorView& view) {
  HEARTH_ASSIGN(const Options* options, view.Options<Options>());
  Layer layer;
  HEARTH_ASSIGN(layer.activation, ReadActivation(options->fused_activation_function()));
  return Op(layer);
}
template <typename Options, typename Blocks>
Result<Op> ReadBlocks(const OperatorView& view) {
  HEARTH_ASSIGN(const Options* options, view.Options<Options>());
  return Op(Blocks{options->block_size()});
}

// What a reader of several operators makes for one of them.
template <auto kRead, auto kKind>
Result<Op> ReadAs(const OperatorView& view) {
  return kRead(view, kKind);
}

// op_readers_window.cc: convolutions, pooling, and matrix products.
OperatorReader ReadConv2D, ReadDepthwiseConv2D, ReadTransposeConv, ReadFullyConnected, ReadBatchMatMul;
Result<Op> ReadPool2D(const OperatorView& view, PoolKind kind);
// Strides, dilations and windows: kMalformedInput if one is below 1 or above kMaxStep.
Status CheckStep(const char* what, int32_t height, int32_t width);
Result<Padding2D> ReadPadding(wire::Padding padding);

// op_readers_elementwise.cc
OperatorReader ReadCast, ReadGelu, ReadLeakyRelu, ReadPRelu, ReadSelect, ReadSoftmax;

// op_readers_shape.cc: operators that change shapes.
OperatorReader ReadConcatenation, ReadExpandDims, ReadPad, ReadReshape, ReadResizeBilinear, ReadResizeNearestNeighbor,
    ReadSqueeze;

// op_readers_movement.cc and op_readers_slice.cc: operators that move elements.
OperatorReader ReadBatchToSpace, ReadBroadcastTo, ReadMirrorPad, ReadPack, ReadReverse, ReadSlice, ReadSpaceToBatch,
    ReadSplit, ReadSplitV, ReadStridedSlice, ReadTile, ReadTranspose, ReadUnpack;
// Whether it is a STRIDED_SLICE with a begin or end that counts from the end.
bool CountsFromTheEnd(const OperatorView& view);

// op_readers_reduce.cc: sums, searches, normalizations and lookups.
OperatorReader ReadTopK, ReadCumSum, ReadLocalResponseNormalization, ReadGather, ReadOneHot;
Result<Op> ReadReduce(const OperatorView& view, ReduceKind kind);
Result<Op> ReadArgReduce(const OperatorView& view, ArgKind kind);

// op_readers_custom.cc
OperatorReader ReadDetectionPostProcess, ReadTransposeConvBias, ReadMaxPoolArgmax, ReadMaxUnpool;

// recurrent.cc
OperatorReader ReadLstm, ReadUnidirectionalSequenceLstm, ReadUnidirectionalSequenceRnn, ReadSvdf;
// Brings the operands of an LSTM node (5 of a BASIC kernel, or 20 to 24), and its results with the next contents of its
// states at the end, to the graph's form: stacks the gates' weights, which the file has separately or (BASIC) in
// another order, into float constants. kUnsupported for weights that are computed at run time or too large.
Status ArrangeLstm(NodeWriter& to, bool is_basic, std::vector<ValueId>& operands, std::vector<NamedResult>& results);

// ---- Operators that become several nodes, or constants ----

// op_readers_slice.cc
OperatorExpansion ExpandSlice, ExpandStridedSlice;

// calls.cc
OperatorExpansion ExpandCall, ExpandComposite, ExpandIf, ExpandCase, ExpandWhile;

// resource_variables.cc
OperatorExpansion ExpandCallOnce, ExpandVarHandle, ExpandReadVariable, ExpandAssignVariable;
// Whether an operator outside of initializations assigns to the variable.
bool ChangesVariable(Reading& reading, const std::string& name);

// expand_constants.cc: operators that make constants once shapes are known.
OperatorExpansion ExpandShape, ExpandRank, ExpandZerosLike, ExpandFill, ExpandRange, ExpandBroadcastArgs, ExpandDensify;

// expansions.cc
OperatorExpansion ExpandCast, ExpandBitcast, ExpandPRelu, ExpandFakeQuant, ExpandBucketize, ExpandConv3D,
    ExpandConv3DTranspose, ExpandNonMaxSuppression, ExpandReverseSequence, ExpandDiagonal, ExpandScatterNd,
    ExpandRfft2D, ExpandReal, ExpandImaginary, ExpandComplexAbs, ExpandWhere, ExpandUnique, ExpandTopK, ExpandOfPlain,
    ExpandIntegerMatMul;
Expanded ExpandSegments(OperatorView& op, BinaryKind kind);
template <BinaryKind kKind>
Expanded ExpandSegments(OperatorView& op, GraphWriter&) {
  return ExpandSegments(op, kKind);
}

// op_readers_custom.cc
OperatorExpansion ExpandHadamardRotation;

// expand_sparse.cc, expand_random.cc, recurrent.cc
OperatorExpansion ExpandSparseToDense, ExpandEmbeddingLookupSparse, ExpandRandomNumbers, ExpandMultinomial,
    ExpandRandomBits, ExpandBidirectionalLstm, ExpandBidirectionalRnn;

// expand_hlo.cc, expand_hlo_convolution.cc, expand_hlo_rows.cc: StableHLO, DILATE and REDUCE_WINDOW.
OperatorExpansion ExpandHloBinary, ExpandHloShiftLeft, ExpandHloPad, ExpandDilate, ExpandHloConvolution, ExpandHloSort,
    ExpandHloCompare, ExpandHloReduceWindow, ExpandReduceWindow, ExpandHloGather, ExpandHloScatter;

}  // namespace hearth

#endif  // HEARTH_FRONTENDS_TFLITE_OP_READERS_H_
