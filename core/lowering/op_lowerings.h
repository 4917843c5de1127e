// The functions in the rows of op_table.cc: for each operation, why a device cannot run a node, its candidate kernels,
// and its dispatches. OpDef (core/graph/op_def.h) describes each function; <family>_lower.cc holds the family's.
#ifndef HEARTH_CORE_LOWERING_OP_LOWERINGS_H_
#define HEARTH_CORE_LOWERING_OP_LOWERINGS_H_

#include "core/graph/op_def.h"

namespace hearth {

// batch_matmul
UnsupportedFunction BatchMatMulUnsupported;
LowerFunction LowerBatchMatMul;

// blocks
UnsupportedFunction SpaceToBatchUnsupported, BatchToSpaceUnsupported;
LowerFunction LowerSpaceToBatch, LowerBatchToSpace;

// cast
UnsupportedFunction CastUnsupported;
LowerFunction LowerCast;

// concat
UnsupportedFunction ConcatUnsupported;
LowerFunction LowerConcat;

// convolution
UnsupportedFunction Conv2DUnsupported, DepthwiseConv2DUnsupported;
CandidatesFunction Conv2DCandidates, DepthwiseConv2DCandidates;
LowerFunction LowerConv2D, LowerDepthwiseConv2D;

// cumsum
UnsupportedFunction CumSumUnsupported;
LowerFunction LowerCumSum;

// detection
UnsupportedFunction DetectionPostProcessUnsupported;
LowerFunction LowerDetectionPostProcess;

// dynamic_update_slice
UnsupportedFunction DynamicUpdateSliceUnsupported;
LowerFunction LowerDynamicUpdateSlice;

// elementwise
UnsupportedFunction UnaryUnsupported, BinaryUnsupported, PReluUnsupported, AddNUnsupported;
LowerFunction LowerUnary, LowerBinary, LowerPRelu, LowerAddN;

// fully_connected
UnsupportedFunction FullyConnectedUnsupported;
CandidatesFunction FullyConnectedCandidates;
LowerFunction LowerFullyConnected;

// gather
UnsupportedFunction GatherUnsupported, GatherNdUnsupported, OneHotUnsupported;
LowerFunction LowerGather, LowerGatherNd, LowerOneHot;

// mean_variance
UnsupportedFunction MeanVarianceNormalizationUnsupported;
CandidatesFunction MeanVarianceNormalizationCandidates;
LowerFunction LowerMeanVarianceNormalization;

// normalization
UnsupportedFunction NormalizationUnsupported;
LowerFunction LowerL2Normalization, LowerLocalResponseNormalization;

// pad
UnsupportedFunction PadUnsupported, MirrorPadUnsupported;
LowerFunction LowerPad, LowerMirrorPad;

// pooling
UnsupportedFunction Pool2DUnsupported;
LowerFunction LowerPool2D;

// recurrent
UnsupportedFunction LstmUnsupported, RnnUnsupported, SvdfUnsupported;
LowerFunction LowerLstm, LowerRnn, LowerSvdf;

// reduce
UnsupportedFunction ReduceUnsupported;
LowerFunction LowerReduce;

// resize
UnsupportedFunction ResizeUnsupported;
LowerFunction LowerResize;

// search: both operations compare 32-bit integers.
UnsupportedFunction SearchUnsupported;
LowerFunction LowerArgReduce, LowerTopK;

// select
UnsupportedFunction SelectUnsupported, SelectRowsUnsupported;
LowerFunction LowerSelect, LowerSelectRows;

// softmax
UnsupportedFunction SoftmaxUnsupported;
CandidatesFunction SoftmaxCandidates;
LowerFunction LowerSoftmax, LowerLogSoftmax;

// split
UnsupportedFunction PackUnsupported;
LowerFunction LowerPack;

// transpose_conv
UnsupportedFunction TransposeConvUnsupported;
CandidatesFunction TransposeConvCandidates;
LowerFunction LowerTransposeConv;

// unpooling
UnsupportedFunction MaxPoolArgmax2DUnsupported, MaxUnpool2DUnsupported, ResamplerUnsupported;
LowerFunction LowerMaxPoolArgmax2D, LowerMaxUnpool2D, LowerResampler;

// strided_copy: for the operations that ViewOf knows. One dispatch for each output, or none if the output is an alias
// of the input.
UnsupportedFunction StridedCopyUnsupported;
LowerFunction LowerStridedCopy;

}  // namespace hearth

#endif  // HEARTH_CORE_LOWERING_OP_LOWERINGS_H_
