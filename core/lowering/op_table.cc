// The table of operations. OpDef (core/graph/op_def.h) says what each column is.
#include <algorithm>
#include <type_traits>

#include "core/graph/op_def.h"
#include "core/graph/op_text.h"
#include "core/graph/ops/batch_matmul.h"
#include "core/graph/ops/blocks.h"
#include "core/graph/ops/cast.h"
#include "core/graph/ops/concat.h"
#include "core/graph/ops/convolution.h"
#include "core/graph/ops/cumsum.h"
#include "core/graph/ops/detection.h"
#include "core/graph/ops/dynamic_update_slice.h"
#include "core/graph/ops/elementwise.h"
#include "core/graph/ops/elementwise_table.h"
#include "core/graph/ops/fully_connected.h"
#include "core/graph/ops/gather.h"
#include "core/graph/ops/mean_variance.h"
#include "core/graph/ops/movement.h"
#include "core/graph/ops/normalization.h"
#include "core/graph/ops/pad.h"
#include "core/graph/ops/pooling.h"
#include "core/graph/ops/recurrent.h"
#include "core/graph/ops/reduce.h"
#include "core/graph/ops/reshape.h"
#include "core/graph/ops/resize.h"
#include "core/graph/ops/search.h"
#include "core/graph/ops/select.h"
#include "core/graph/ops/softmax.h"
#include "core/graph/ops/split.h"
#include "core/graph/ops/transpose_conv.h"
#include "core/graph/ops/unpooling.h"
#include "core/lowering/op_lowerings.h"

namespace hearth {
namespace {

Status InferUnknown(Graph& /*graph*/, const Node& node) {
  return UnknownOperation(node);
}

// In the order of the Op variant.
constexpr OpDef kOps[] = {
    {"conv_2d", InferConv2D, ReferenceConv2D, Conv2DUnsupported, LowerConv2D, Conv2DCandidates},
    {"depthwise_conv_2d", InferDepthwiseConv2D, ReferenceDepthwiseConv2D, DepthwiseConv2DUnsupported,
     LowerDepthwiseConv2D, DepthwiseConv2DCandidates},
    {"pool_2d", InferPool2D, ReferencePool2D, Pool2DUnsupported, LowerPool2D},
    {"unary", InferUnary, ReferenceUnary, UnaryUnsupported, LowerUnary},
    {"binary", InferBinary, ReferenceBinary, BinaryUnsupported, LowerBinary},
    {"concat", InferConcat, ReferenceConcat, ConcatUnsupported, LowerConcat},
    {"resize", InferResize, ReferenceResize, ResizeUnsupported, LowerResize},
    {"reshape", InferReshape, ReferenceReshape, StridedCopyUnsupported, LowerStridedCopy},
    {"softmax", InferSoftmax, ReferenceSoftmax, SoftmaxUnsupported, LowerSoftmax, SoftmaxCandidates},
    {"pad", InferPad, ReferencePad, PadUnsupported, LowerPad},
    {"fully_connected", InferFullyConnected, ReferenceFullyConnected, FullyConnectedUnsupported, LowerFullyConnected,
     FullyConnectedCandidates},
    {"reduce", InferReduce, ReferenceReduce, ReduceUnsupported, LowerReduce},
    {"arg_reduce", InferArgReduce, ReferenceArgReduce, SearchUnsupported, LowerArgReduce},
    {"topk", InferTopK, ReferenceTopK, SearchUnsupported, LowerTopK},
    {"cumsum", InferCumSum, ReferenceCumSum, CumSumUnsupported, LowerCumSum},
    {"log_softmax", InferLogSoftmax, ReferenceLogSoftmax, SoftmaxUnsupported, LowerLogSoftmax, SoftmaxCandidates},
    {"l2_normalization", InferL2Normalization, ReferenceL2Normalization, NormalizationUnsupported,
     LowerL2Normalization},
    {"local_response_normalization", InferLocalResponseNormalization, ReferenceLocalResponseNormalization,
     NormalizationUnsupported, LowerLocalResponseNormalization},
    {"select", InferSelect, ReferenceSelect, SelectUnsupported, LowerSelect},
    {"select_rows", InferSelectRows, ReferenceSelectRows, SelectRowsUnsupported, LowerSelectRows},
    {"prelu", InferPRelu, ReferencePRelu, PReluUnsupported, LowerPRelu},
    {"cast", InferCast, ReferenceCast, CastUnsupported, LowerCast},
    {"add_n", InferAddN, ReferenceAddN, AddNUnsupported, LowerAddN},
    {"transpose", InferTranspose, ReferenceTranspose, StridedCopyUnsupported, LowerStridedCopy},
    {"slice", InferSlice, ReferenceSlice, StridedCopyUnsupported, LowerStridedCopy},
    {"split", InferSplit, ReferenceSplit, StridedCopyUnsupported, LowerStridedCopy},
    {"pack", InferPack, ReferencePack, PackUnsupported, LowerPack},
    {"unpack", InferUnpack, ReferenceUnpack, StridedCopyUnsupported, LowerStridedCopy},
    {"tile", InferTile, ReferenceTile, StridedCopyUnsupported, LowerStridedCopy},
    {"broadcast_to", InferBroadcastTo, ReferenceBroadcastTo, StridedCopyUnsupported, LowerStridedCopy},
    {"reverse", InferReverse, ReferenceReverse, StridedCopyUnsupported, LowerStridedCopy},
    {"depth_to_space", InferDepthToSpace, ReferenceDepthToSpace, StridedCopyUnsupported, LowerStridedCopy},
    {"space_to_depth", InferSpaceToDepth, ReferenceSpaceToDepth, StridedCopyUnsupported, LowerStridedCopy},
    {"space_to_batch", InferSpaceToBatch, ReferenceSpaceToBatch, SpaceToBatchUnsupported, LowerSpaceToBatch},
    {"batch_to_space", InferBatchToSpace, ReferenceBatchToSpace, BatchToSpaceUnsupported, LowerBatchToSpace},
    {"mirror_pad", InferMirrorPad, ReferenceMirrorPad, MirrorPadUnsupported, LowerMirrorPad},
    {"dynamic_update_slice", InferDynamicUpdateSlice, ReferenceDynamicUpdateSlice, DynamicUpdateSliceUnsupported,
     LowerDynamicUpdateSlice},
    {"gather", InferGather, ReferenceGather, GatherUnsupported, LowerGather},
    {"gather_nd", InferGatherNd, ReferenceGatherNd, GatherUnsupported, LowerGatherNd},
    {"one_hot", InferOneHot, ReferenceOneHot, OneHotUnsupported, LowerOneHot},
    {"batch_matmul", InferBatchMatMul, ReferenceBatchMatMul, BatchMatMulUnsupported, LowerBatchMatMul},
    {"transpose_conv", InferTransposeConv, ReferenceTransposeConv, TransposeConvUnsupported, LowerTransposeConv,
     TransposeConvCandidates},
    {"max_pool_argmax_2d", InferMaxPoolArgmax2D, ReferenceMaxPoolArgmax2D, MaxPoolArgmax2DUnsupported,
     LowerMaxPoolArgmax2D},
    {"max_unpool_2d", InferMaxUnpool2D, ReferenceMaxUnpool2D, MaxUnpool2DUnsupported, LowerMaxUnpool2D},
    {"resampler", InferResampler, ReferenceResampler, ResamplerUnsupported, LowerResampler},
    {"TFLite_Detection_PostProcess", InferDetectionPostProcess, ReferenceDetectionPostProcess, nullptr, nullptr},
    {"lstm", InferLstm, ReferenceLstm, LstmUnsupported, LowerLstm},
    {"rnn", InferRnn, ReferenceRnn, RnnUnsupported, LowerRnn},
    {"svdf", InferSvdf, ReferenceSvdf, SvdfUnsupported, LowerSvdf},
    {"mean_variance_normalization", InferMeanVarianceNormalization, ReferenceMeanVarianceNormalization,
     MeanVarianceNormalizationUnsupported, LowerMeanVarianceNormalization, MeanVarianceNormalizationCandidates},
    {"unknown", InferUnknown, nullptr, nullptr, nullptr},
};
static_assert(std::size(kOps) == std::variant_size_v<Op>);

}  // namespace

const OpDef& OpDefOf(const Op& op) {
  return kOps[op.index()];
}

}  // namespace hearth
