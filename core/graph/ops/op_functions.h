// Shape inference and reference of each operation, for the rows of op_table.cc. OpDef (core/graph/op_def.h) describes
// them; <family>.cc holds the family's.
#ifndef HEARTH_CORE_GRAPH_OPS_OP_FUNCTIONS_H_
#define HEARTH_CORE_GRAPH_OPS_OP_FUNCTIONS_H_

#include <array>
#include <cstdint>

#include "core/graph/op_def.h"

namespace hearth {

// blocks: move blocks of pixels between the image and its channels or its batch.
// Channel (dy * block + dx) * C + c of a pixel becomes channel c of pixel (dy, dx) of its block, and back.
InferFunction InferDepthToSpace, InferSpaceToDepth;
ReferenceFunction ReferenceDepthToSpace, ReferenceSpaceToDepth;
// Pixel (dy, dx) of every block of the padded image b becomes a pixel of image (dy * block_w + dx) * batch + b, and
// back. Ranks 3 (one spatial dimension) and 4 (two).
InferFunction InferSpaceToBatch, InferBatchToSpace;
ReferenceFunction ReferenceSpaceToBatch, ReferenceBatchToSpace;

// broadcast: chooses between two tensors by a condition: SELECT_V2 broadcasts; SELECT can have one condition per row.
InferFunction InferSelect, InferSelectRows;
ReferenceFunction ReferenceSelect, ReferenceSelectRows;

// cast: conversions between element types; the bits of one type read as another; floats in 255 steps.
InferFunction InferCast, InferBitcast, InferDynamicQuantize;
ReferenceFunction ReferenceCast, ReferenceBitcast, ReferenceDynamicQuantize;

// concat: joining tensors along one axis; one tensor into several along a dimension (split, unpack), and several into
// one with a new dimension (pack).
InferFunction InferConcat, InferSplit, InferUnpack, InferPack;
ReferenceFunction ReferenceConcat, ReferenceSplit, ReferenceUnpack, ReferencePack;

// convolution: convolutions over images, NHWC: filters [O,kh,kw,C/groups] (Conv2D) and [1,kh,kw,C*multiplier]
// (DepthwiseConv2D); the gradient of one, with which decoders of segmentation networks enlarge images (TransposeConv).
InferFunction InferConv2D, InferDepthwiseConv2D, InferTransposeConv, InferConvInteger;
ReferenceFunction ReferenceConv2D, ReferenceDepthwiseConv2D, ReferenceTransposeConv, ReferenceConvInteger;

// data_sized: results whose size depends on data have their largest size and a count of used elements.
InferFunction InferScatter, InferWhere, InferUnique;
ReferenceFunction ReferenceScatter, ReferenceWhere, ReferenceUnique;

// detection: from box encodings and class scores to a short list of detections (detection.h).
InferFunction InferDetectionPostProcess;
ReferenceFunction ReferenceDetectionPostProcess;

// suppression: the best boxes that do not overlap.
InferFunction InferNonMaxSuppression;
ReferenceFunction ReferenceNonMaxSuppression;

// elementwise: the unary and binary operations of elementwise_table.h, PReLU, and sums of several tensors.
InferFunction InferUnary, InferBinary, InferPRelu, InferAddN;
ReferenceFunction ReferenceUnary, ReferenceBinary, ReferencePRelu, ReferenceAddN;

// gather: lookups by index: GATHER (also EMBEDDING_LOOKUP), GATHER_ND, and the inverse ONE_HOT. An index out of range,
// which TFLite refuses, is clamped; one-hot sets no element for it. DynamicUpdateSlice replaces part of a tensor at an
// index that is known only at run time.
InferFunction InferGather, InferGatherNd, InferOneHot, InferDynamicUpdateSlice;
ReferenceFunction ReferenceGather, ReferenceGatherNd, ReferenceOneHot, ReferenceDynamicUpdateSlice;

// loop: a loop whose end depends on data. Its reference, which can fail, is part of EvaluateNode.
InferFunction InferLoop;
InferFunction InferCustom;

// movement: rearranges or repeats elements along dimensions. On devices all are strided copies.
InferFunction InferTranspose, InferSlice, InferTile, InferBroadcastTo, InferReverse, InferReshape;
ReferenceFunction ReferenceTranspose, ReferenceSlice, ReferenceTile, ReferenceBroadcastTo, ReferenceReverse,
    ReferenceReshape;

// normalization: of a pixel's channels (L2), over neighbouring channels (local response), layer and instance
// normalization (mean 0 and variance 1 over some dimensions, then scale and offset per channel; normalization.h);
// softmax over the last dimension, and its logarithm.
InferFunction InferLocalResponseNormalization, InferMeanVarianceNormalization, InferSoftmax;
InferFunction InferNormalized;  // of a node that normalizes over the last dimension
ReferenceFunction ReferenceL2Normalization, ReferenceLocalResponseNormalization, ReferenceMeanVarianceNormalization;
ReferenceFunction ReferenceSoftmax, ReferenceLogSoftmax;

// pad: padding of any dimension, with a constant or with a mirror image of the border.
InferFunction InferPad, InferMirrorPad;
ReferenceFunction ReferencePad, ReferenceMirrorPad;

// pooling: average and max pooling over images, NHWC; padded elements are ignored. MediaPipe's pooling that remembers
// where its maxima stood, and its inverse; sampling at computed points; bilinear and nearest-neighbor resizing.
InferFunction InferPool2D, InferMaxPoolArgmax2D, InferMaxUnpool2D, InferResampler, InferResize;
ReferenceFunction ReferencePool2D, ReferenceMaxPoolArgmax2D, ReferenceMaxUnpool2D, ReferenceResampler, ReferenceResize;

// product: products of many pairs of matrices; matrix times vector for each row of the input, plus bias.
InferFunction InferBatchMatMul, InferFullyConnected;
ReferenceFunction ReferenceBatchMatMul, ReferenceFullyConnected;

// random: random numbers by Philox 4x32-10 and Threefry 2x32-20 (Salmon et al., 2011), in the order in which LiteRT
// draws them. Both give numbers that depend on every bit of a counter and a key.
InferFunction InferRandom, InferRandomBits;
ReferenceFunction ReferenceRandom, ReferenceRandomBits;
std::array<uint32_t, 4> Philox(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key);
std::array<uint32_t, 2> Threefry(std::array<uint32_t, 2> counter, std::array<uint32_t, 2> key);

// recurrent: LSTM, RNN and SVDF (recurrent.h).
InferFunction InferLstm, InferRnn, InferSvdf;
ReferenceFunction ReferenceLstm, ReferenceRnn, ReferenceSvdf;

// reduce: mean, sum, extremes, product, any and all over any set of dimensions.
InferFunction InferReduce;
ReferenceFunction ReferenceReduce;

// search: index of the extreme element along a dimension, the k largest of the last one; running sums.
InferFunction InferArgReduce, InferTopK, InferCumSum;
ReferenceFunction ReferenceArgReduce, ReferenceTopK, ReferenceCumSum;

}  // namespace hearth

#endif  // HEARTH_CORE_GRAPH_OPS_OP_FUNCTIONS_H_
