// Shape inference and reference of each operation, for the rows of op_table.cc. OpDef (core/graph/op_def.h) describes
// them; <family>.cc holds the family's. Families with code that is used elsewhere have their own header.
#ifndef HEARTH_CORE_GRAPH_OPS_OP_FUNCTIONS_H_
#define HEARTH_CORE_GRAPH_OPS_OP_FUNCTIONS_H_

#include "core/graph/op_def.h"

namespace hearth {

// bitcast: the bits of one type read as another.
Status InferBitcast(Graph& graph, const Node& node);
void ReferenceBitcast(const Node& node, std::span<const ReferenceTensor* const> inputs,
                      std::span<ReferenceTensor> outputs);

// blocks: move blocks of pixels between the image and its channels or its batch.
// Channel (dy * block + dx) * C + c of a pixel becomes channel c of pixel (dy, dx) of its block, and back.
Status InferDepthToSpace(Graph& graph, const Node& node);
void ReferenceDepthToSpace(const Node& node, std::span<const ReferenceTensor* const> inputs,
                           std::span<ReferenceTensor> outputs);
Status InferSpaceToDepth(Graph& graph, const Node& node);
void ReferenceSpaceToDepth(const Node& node, std::span<const ReferenceTensor* const> inputs,
                           std::span<ReferenceTensor> outputs);
// Pixel (dy, dx) of every block of the padded image b becomes a pixel of image (dy * block_w + dx) * batch + b, and
// back. Ranks 3 (one spatial dimension) and 4 (two).
Status InferSpaceToBatch(Graph& graph, const Node& node);
void ReferenceSpaceToBatch(const Node& node, std::span<const ReferenceTensor* const> inputs,
                           std::span<ReferenceTensor> outputs);
Status InferBatchToSpace(Graph& graph, const Node& node);
void ReferenceBatchToSpace(const Node& node, std::span<const ReferenceTensor* const> inputs,
                           std::span<ReferenceTensor> outputs);

// cast: conversions between element types.
Status InferCast(Graph& graph, const Node& node);
void ReferenceCast(const Node& node, std::span<const ReferenceTensor* const> inputs,
                   std::span<ReferenceTensor> outputs);

// concat: joining tensors along one axis.
Status InferConcat(Graph& graph, const Node& node);
void ReferenceConcat(const Node& node, std::span<const ReferenceTensor* const> inputs,
                     std::span<ReferenceTensor> outputs);

// convolution: convolutions over images, NHWC: filters [O,kh,kw,C/groups] (Conv2D) and [1,kh,kw,C*multiplier]
// (DepthwiseConv2D).
Status InferConv2D(Graph& graph, const Node& node);
void ReferenceConv2D(const Node& node, std::span<const ReferenceTensor* const> inputs,
                     std::span<ReferenceTensor> outputs);
Status InferDepthwiseConv2D(Graph& graph, const Node& node);
void ReferenceDepthwiseConv2D(const Node& node, std::span<const ReferenceTensor* const> inputs,
                              std::span<ReferenceTensor> outputs);

// cumsum: running sums along one dimension.
Status InferCumSum(Graph& graph, const Node& node);
void ReferenceCumSum(const Node& node, std::span<const ReferenceTensor* const> inputs,
                     std::span<ReferenceTensor> outputs);

// data_sized: results whose size depends on data have their largest size and a count of used elements.
Status InferWhere(Graph& graph, const Node& node);
void ReferenceWhere(const Node& node, std::span<const ReferenceTensor* const> inputs,
                    std::span<ReferenceTensor> outputs);
Status InferUnique(Graph& graph, const Node& node);
void ReferenceUnique(const Node& node, std::span<const ReferenceTensor* const> inputs,
                     std::span<ReferenceTensor> outputs);

// suppression: the best boxes that do not overlap.
Status InferNonMaxSuppression(Graph& graph, const Node& node);
void ReferenceNonMaxSuppression(const Node& node, std::span<const ReferenceTensor* const> inputs,
                                std::span<ReferenceTensor> outputs);

// dynamic_update_slice: replaces part of a tensor at an index that is known only at run time.
Status InferDynamicUpdateSlice(Graph& graph, const Node& node);
void ReferenceDynamicUpdateSlice(const Node& node, std::span<const ReferenceTensor* const> inputs,
                                 std::span<ReferenceTensor> outputs);

// elementwise: the unary and binary operations of elementwise_table.h, PReLU, and sums of several tensors.
Status InferUnary(Graph& graph, const Node& node);
void ReferenceUnary(const Node& node, std::span<const ReferenceTensor* const> inputs,
                    std::span<ReferenceTensor> outputs);
Status InferBinary(Graph& graph, const Node& node);
void ReferenceBinary(const Node& node, std::span<const ReferenceTensor* const> inputs,
                     std::span<ReferenceTensor> outputs);
Status InferPRelu(Graph& graph, const Node& node);
void ReferencePRelu(const Node& node, std::span<const ReferenceTensor* const> inputs,
                    std::span<ReferenceTensor> outputs);
Status InferAddN(Graph& graph, const Node& node);
void ReferenceAddN(const Node& node, std::span<const ReferenceTensor* const> inputs,
                   std::span<ReferenceTensor> outputs);

// fully_connected: matrix times vector for each row of the input, plus bias.
Status InferFullyConnected(Graph& graph, const Node& node);
void ReferenceFullyConnected(const Node& node, std::span<const ReferenceTensor* const> inputs,
                             std::span<ReferenceTensor> outputs);

// loop: a loop whose end depends on data.
// Its reference, which can fail, is part of EvaluateNode.
Status InferLoop(Graph& graph, const Node& node);

// movement: rearranges or repeats elements along dimensions. On devices all are strided copies.
Status InferTranspose(Graph& graph, const Node& node);
void ReferenceTranspose(const Node& node, std::span<const ReferenceTensor* const> inputs,
                        std::span<ReferenceTensor> outputs);
Status InferSlice(Graph& graph, const Node& node);
void ReferenceSlice(const Node& node, std::span<const ReferenceTensor* const> inputs,
                    std::span<ReferenceTensor> outputs);
Status InferTile(Graph& graph, const Node& node);
void ReferenceTile(const Node& node, std::span<const ReferenceTensor* const> inputs,
                   std::span<ReferenceTensor> outputs);
Status InferBroadcastTo(Graph& graph, const Node& node);
void ReferenceBroadcastTo(const Node& node, std::span<const ReferenceTensor* const> inputs,
                          std::span<ReferenceTensor> outputs);
Status InferReverse(Graph& graph, const Node& node);
void ReferenceReverse(const Node& node, std::span<const ReferenceTensor* const> inputs,
                      std::span<ReferenceTensor> outputs);

// normalization: l2 normalization of a pixel's channels, and local response normalization over neighbouring channels.
Status InferL2Normalization(Graph& graph, const Node& node);
void ReferenceL2Normalization(const Node& node, std::span<const ReferenceTensor* const> inputs,
                              std::span<ReferenceTensor> outputs);
Status InferLocalResponseNormalization(Graph& graph, const Node& node);
void ReferenceLocalResponseNormalization(const Node& node, std::span<const ReferenceTensor* const> inputs,
                                         std::span<ReferenceTensor> outputs);

// pooling: average and max pooling over images, NHWC; padded elements are ignored.
Status InferPool2D(Graph& graph, const Node& node);
void ReferencePool2D(const Node& node, std::span<const ReferenceTensor* const> inputs,
                     std::span<ReferenceTensor> outputs);

// reduce: mean, sum, extremes, product, any and all over any set of dimensions.
Status InferReduce(Graph& graph, const Node& node);
void ReferenceReduce(const Node& node, std::span<const ReferenceTensor* const> inputs,
                     std::span<ReferenceTensor> outputs);

// reshape: the same elements in another shape.
Status InferReshape(Graph& graph, const Node& node);
void ReferenceReshape(const Node& node, std::span<const ReferenceTensor* const> inputs,
                      std::span<ReferenceTensor> outputs);

// search: index of the extreme element along a dimension, the k largest of the last one.
Status InferArgReduce(Graph& graph, const Node& node);
void ReferenceArgReduce(const Node& node, std::span<const ReferenceTensor* const> inputs,
                        std::span<ReferenceTensor> outputs);
Status InferTopK(Graph& graph, const Node& node);
void ReferenceTopK(const Node& node, std::span<const ReferenceTensor* const> inputs,
                   std::span<ReferenceTensor> outputs);

// select: chooses between two tensors by a condition: SELECT_V2 broadcasts; SELECT can have one condition per row.
Status InferSelect(Graph& graph, const Node& node);
void ReferenceSelect(const Node& node, std::span<const ReferenceTensor* const> inputs,
                     std::span<ReferenceTensor> outputs);
Status InferSelectRows(Graph& graph, const Node& node);
void ReferenceSelectRows(const Node& node, std::span<const ReferenceTensor* const> inputs,
                         std::span<ReferenceTensor> outputs);

// softmax: softmax over the last dimension, and its logarithm.
Status InferSoftmax(Graph& graph, const Node& node);
void ReferenceSoftmax(const Node& node, std::span<const ReferenceTensor* const> inputs,
                      std::span<ReferenceTensor> outputs);
Status InferLogSoftmax(Graph& graph, const Node& node);
void ReferenceLogSoftmax(const Node& node, std::span<const ReferenceTensor* const> inputs,
                         std::span<ReferenceTensor> outputs);

// split: one tensor into several along a dimension (split, unpack), and several into one with a new dimension (pack).
Status InferSplit(Graph& graph, const Node& node);
void ReferenceSplit(const Node& node, std::span<const ReferenceTensor* const> inputs,
                    std::span<ReferenceTensor> outputs);
Status InferUnpack(Graph& graph, const Node& node);
void ReferenceUnpack(const Node& node, std::span<const ReferenceTensor* const> inputs,
                     std::span<ReferenceTensor> outputs);
Status InferPack(Graph& graph, const Node& node);
void ReferencePack(const Node& node, std::span<const ReferenceTensor* const> inputs,
                   std::span<ReferenceTensor> outputs);

// transpose_conv: the gradient of a convolution, with which decoders of segmentation networks enlarge images.
Status InferTransposeConv(Graph& graph, const Node& node);
void ReferenceTransposeConv(const Node& node, std::span<const ReferenceTensor* const> inputs,
                            std::span<ReferenceTensor> outputs);

}  // namespace hearth

#endif  // HEARTH_CORE_GRAPH_OPS_OP_FUNCTIONS_H_
