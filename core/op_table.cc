#include "core/op_table.h"

#include <algorithm>
#include <type_traits>

#include "core/error.h"
#include "core/op_text.h"
#include "core/ops/batch_matmul.h"
#include "core/ops/blocks.h"
#include "core/ops/cast.h"
#include "core/ops/concat.h"
#include "core/ops/convolution.h"
#include "core/ops/cumsum.h"
#include "core/ops/detection.h"
#include "core/ops/dynamic_update_slice.h"
#include "core/ops/elementwise.h"
#include "core/ops/elementwise_table.h"
#include "core/ops/fully_connected.h"
#include "core/ops/gather.h"
#include "core/ops/mean_variance.h"
#include "core/ops/movement.h"
#include "core/ops/normalization.h"
#include "core/ops/pad.h"
#include "core/ops/pooling.h"
#include "core/ops/recurrent.h"
#include "core/ops/reduce.h"
#include "core/ops/reshape.h"
#include "core/ops/resize.h"
#include "core/ops/search.h"
#include "core/ops/select.h"
#include "core/ops/softmax.h"
#include "core/ops/split.h"
#include "core/ops/strided_copy.h"
#include "core/ops/transpose_conv.h"
#include "core/ops/unpooling.h"

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

Status UnknownOperation(const Node& node) {
  const auto* unknown = std::get_if<UnknownOp>(&node.op);
  const std::string why = unknown != nullptr && !unknown->reason.empty()
                              ? fmt::format("has a form that Hearth can't run ({})", unknown->reason)
                              : "is not known to Hearth";
  return Error(StatusCode::kUnsupported,
               "op {} {} {}; convert the model without it (`hearth inspect` lists all that it needs)",
               node.source_index, OpName(node.op), why);
}

const OpDef& OpDefOf(const Op& op) {
  return kOps[op.index()];
}

std::string OpName(const Op& op) {
  if (const auto* unary = std::get_if<Unary>(&op)) return std::string(RowOf(unary->kind).name);
  if (const auto* binary = std::get_if<Binary>(&op)) return std::string(RowOf(binary->kind).name);
  if (const auto* pool = std::get_if<Pool2D>(&op)) {
    constexpr std::string_view kNames[] = {"average_pool_2d", "max_pool_2d", "l2_pool_2d"};
    return std::string(kNames[static_cast<int>(pool->kind)]);
  }
  if (const auto* resize = std::get_if<Resize>(&op)) {
    return resize->kind == ResizeKind::kBilinear ? "resize_bilinear" : "resize_nearest";
  }
  if (const auto* reduce = std::get_if<Reduce>(&op)) {
    constexpr std::string_view kNames[] = {"mean",        "sum",        "reduce_max", "reduce_min",
                                           "reduce_prod", "reduce_any", "reduce_all"};
    return std::string(kNames[static_cast<int>(reduce->kind)]);
  }
  if (const auto* search = std::get_if<ArgReduce>(&op)) return search->kind == ArgKind::kMax ? "arg_max" : "arg_min";
  if (const auto* unknown = std::get_if<UnknownOp>(&op)) return unknown->name;
  return std::string(OpDefOf(op).name);
}

Status InferShapes(Graph& graph) {
  for (const Node& node : graph.nodes()) HEARTH_TRY(OpDefOf(node.op).infer(graph, node));
  for (const StatePair& state : graph.states) {
    const Value &read = graph.value(state.read), &written = graph.value(state.written);
    if (read.desc == written.desc) continue;
    return Error(StatusCode::kMalformedInput, "state '{}' is {}[{}], but its next content '{}' is {}[{}]", read.name,
                 DTypeName(read.desc.dtype), read.desc.shape.ToString(), written.name, DTypeName(written.desc.dtype),
                 written.desc.shape.ToString());
  }
  return Status::Ok();
}

}  // namespace hearth
