// The functions in the rows of op_table.cc: for each operation, why a device cannot run a node, its candidate kernels,
// and its dispatches. OpDef (core/graph/op_def.h) describes each function; <family>_lower.cc holds the family's.
#ifndef HEARTH_CORE_LOWERING_OP_LOWERINGS_H_
#define HEARTH_CORE_LOWERING_OP_LOWERINGS_H_

#include "core/graph/op_def.h"

namespace hearth {

// blocks
LowerFunction LowerSpaceToBatch, LowerBatchToSpace;

// broadcast
UnsupportedFunction SelectUnsupported;
LowerFunction LowerSelect, LowerSelectRows;

// concat
UnsupportedFunction ConcatUnsupported;
LowerFunction LowerConcat, LowerPack;

// convolution, transpose_conv
CandidatesFunction Conv2DCandidates, DepthwiseConv2DCandidates, TransposeConvCandidates;
LowerFunction LowerConv2D, LowerDepthwiseConv2D, LowerTransposeConv;

// detection
UnsupportedFunction DetectionPostProcessUnsupported;
LowerFunction LowerDetectionPostProcess;

// elementwise
UnsupportedFunction UnaryUnsupported, BinaryUnsupported, PReluUnsupported, CastUnsupported;
LowerFunction LowerUnary, LowerBinary, LowerPRelu, LowerAddN, LowerCast;

// gather
UnsupportedFunction GatherUnsupported, GatherNdUnsupported, OneHotUnsupported, DynamicUpdateSliceUnsupported;
LowerFunction LowerGather, LowerGatherNd, LowerOneHot, LowerDynamicUpdateSlice;

// normalization
UnsupportedFunction MeanVarianceNormalizationUnsupported;
CandidatesFunction MeanVarianceNormalizationCandidates, SoftmaxCandidates;
LowerFunction LowerMeanVarianceNormalization, LowerL2Normalization, LowerLocalResponseNormalization;
LowerFunction LowerSoftmax, LowerLogSoftmax;

// pad
UnsupportedFunction PadUnsupported, MirrorPadUnsupported;
LowerFunction LowerPad, LowerMirrorPad;

// pooling
LowerFunction LowerPool2D, LowerMaxPoolArgmax2D, LowerMaxUnpool2D, LowerResampler, LowerResize;

// product
CandidatesFunction FullyConnectedCandidates;
LowerFunction LowerBatchMatMul, LowerFullyConnected;

// recurrent
UnsupportedFunction LstmUnsupported, RnnUnsupported, SvdfUnsupported;
LowerFunction LowerLstm, LowerRnn, LowerSvdf;

// reduce, search
UnsupportedFunction ReduceUnsupported, TopKUnsupported;
LowerFunction LowerReduce, LowerArgReduce, LowerTopK, LowerCumSum;

// strided_copy: for the operations that ViewOf knows. One dispatch for each output, or none if the output is an alias
// of the input.
UnsupportedFunction StridedCopyUnsupported;
LowerFunction LowerStridedCopy;

}  // namespace hearth

#endif  // HEARTH_CORE_LOWERING_OP_LOWERINGS_H_
