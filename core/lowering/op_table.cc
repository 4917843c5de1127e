// The table of operations. OpDef (core/graph/op_def.h) describes the columns.
#include <iterator>
#include <type_traits>
#include <utility>
#include <variant>

#include "core/graph/op_def.h"
#include "core/graph/op_text.h"
#include "core/graph/ops/batch_matmul.h"
#include "core/graph/ops/detection.h"
#include "core/graph/ops/gather.h"
#include "core/graph/ops/mean_variance.h"
#include "core/graph/ops/op_functions.h"
#include "core/graph/ops/pad.h"
#include "core/graph/ops/random.h"
#include "core/graph/ops/recurrent.h"
#include "core/graph/ops/resize.h"
#include "core/graph/ops/unpooling.h"
#include "core/lowering/loop_turns.h"
#include "core/lowering/op_lowerings.h"

namespace hearth {
namespace {

Status InferUnknown(Graph& /*graph*/, const Node& node) {
  return UnknownOperation(node);
}

template <typename Attributes, size_t... Indices>
constexpr size_t IndexIn(std::index_sequence<Indices...> /*all*/) {
  return ((std::is_same_v<Attributes, std::variant_alternative_t<Indices, Op>> ? Indices : 0) + ...);
}

// A row that lacks a column does not compile.
template <typename Attributes>
constexpr OpDef OpRow(std::string_view name, InferFunction infer, ReferenceFunction reference,
                      UnsupportedFunction unsupported, LowerFunction lower, CandidatesFunction candidates,
                      LoopTurnsFunction loop_turns, unsigned traits) {
  return {IndexIn<Attributes>(std::make_index_sequence<std::variant_size_v<Op>>()),
          name,
          infer,
          reference,
          unsupported,
          lower,
          candidates,
          loop_turns,
          traits};
}

constexpr CandidatesFunction kOneWay = nullptr;

// In the order of the variant Op.
constexpr OpDef kOps[] = {
    OpRow<Conv2D>("conv_2d", InferConv2D, ReferenceConv2D, Conv2DUnsupported, LowerConv2D, Conv2DCandidates,
                  ConvolutionTurns, kTakesStoredConstants | kCostly),
    OpRow<DepthwiseConv2D>("depthwise_conv_2d", InferDepthwiseConv2D, ReferenceDepthwiseConv2D,
                           DepthwiseConv2DUnsupported, LowerDepthwiseConv2D, DepthwiseConv2DCandidates, DepthwiseTurns,
                           kTakesStoredConstants | kCostly),
    OpRow<Pool2D>("pool_2d", InferPool2D, ReferencePool2D, Pool2DUnsupported, LowerPool2D, kOneWay, PoolTurns, kCostly),
    OpRow<Unary>("unary", InferUnary, ReferenceUnary, UnaryUnsupported, LowerUnary, kOneWay, ShortLoops, kTakesEmpty),
    OpRow<Binary>("binary", InferBinary, ReferenceBinary, BinaryUnsupported, LowerBinary, kOneWay, ShortLoops,
                  kTakesEmpty),
    OpRow<Concat>("concat", InferConcat, ReferenceConcat, ConcatUnsupported, LowerConcat, kOneWay, ShortLoops,
                  kMovesElements | kTakesEmpty),
    OpRow<Resize>("resize", InferResize, ReferenceResize, ResizeUnsupported, LowerResize, kOneWay, ShortLoops, kPlain),
    OpRow<Reshape>("reshape", InferReshape, ReferenceReshape, StridedCopyUnsupported, LowerStridedCopy, kOneWay,
                   ShortLoops, kMovesElements | kTakesEmpty),
    OpRow<Softmax>("softmax", InferSoftmax, ReferenceSoftmax, SoftmaxUnsupported, LowerSoftmax, SoftmaxCandidates,
                   ChannelTurns, kTakesEmpty),
    OpRow<Pad>("pad", InferPad, ReferencePad, PadUnsupported, LowerPad, kOneWay, ShortLoops, kTakesEmpty),
    OpRow<FullyConnected>("fully_connected", InferFullyConnected, ReferenceFullyConnected, FullyConnectedUnsupported,
                          LowerFullyConnected, FullyConnectedCandidates, FullyConnectedTurns,
                          kTakesStoredConstants | kCostly | kTakesEmpty),
    OpRow<Reduce>("reduce", InferReduce, ReferenceReduce, ReduceUnsupported, LowerReduce, kOneWay, ReduceTurns,
                  kTakesEmpty),
    OpRow<ArgReduce>("arg_reduce", InferArgReduce, ReferenceArgReduce, SearchUnsupported, LowerArgReduce, kOneWay,
                     ArgReduceTurns, kTakesEmpty),
    OpRow<TopK>("topk", InferTopK, ReferenceTopK, SearchUnsupported, LowerTopK, kOneWay, TopKTurns, kTakesEmpty),
    OpRow<CumSum>("cumsum", InferCumSum, ReferenceCumSum, CumSumUnsupported, LowerCumSum, kOneWay, CumSumTurns,
                  kTakesEmpty),
    OpRow<LogSoftmax>("log_softmax", InferLogSoftmax, ReferenceLogSoftmax, SoftmaxUnsupported, LowerLogSoftmax,
                      SoftmaxCandidates, ChannelTurns, kTakesEmpty),
    OpRow<L2Normalization>("l2_normalization", InferL2Normalization, ReferenceL2Normalization, NormalizationUnsupported,
                           LowerL2Normalization, kOneWay, ChannelTurns, kPlain),
    OpRow<LocalResponseNormalization>("local_response_normalization", InferLocalResponseNormalization,
                                      ReferenceLocalResponseNormalization, NormalizationUnsupported,
                                      LowerLocalResponseNormalization, kOneWay, LocalResponseTurns, kPlain),
    OpRow<Select>("select", InferSelect, ReferenceSelect, SelectUnsupported, LowerSelect, kOneWay, ShortLoops,
                  kMovesElements | kTakesEmpty),
    OpRow<SelectRows>("select_rows", InferSelectRows, ReferenceSelectRows, SelectRowsUnsupported, LowerSelectRows,
                      kOneWay, ShortLoops, kMovesElements | kTakesEmpty),
    OpRow<PRelu>("prelu", InferPRelu, ReferencePRelu, PReluUnsupported, LowerPRelu, kOneWay, ShortLoops, kTakesEmpty),
    OpRow<Cast>("cast", InferCast, ReferenceCast, CastUnsupported, LowerCast, kOneWay, ShortLoops, kTakesEmpty),
    OpRow<AddN>("add_n", InferAddN, ReferenceAddN, AddNUnsupported, LowerAddN, kOneWay, ShortLoops, kTakesEmpty),
    OpRow<Transpose>("transpose", InferTranspose, ReferenceTranspose, StridedCopyUnsupported, LowerStridedCopy, kOneWay,
                     ShortLoops, kMovesElements | kTakesEmpty),
    OpRow<Slice>("slice", InferSlice, ReferenceSlice, StridedCopyUnsupported, LowerStridedCopy, kOneWay, ShortLoops,
                 kMovesElements | kTakesEmpty),
    OpRow<Split>("split", InferSplit, ReferenceSplit, StridedCopyUnsupported, LowerStridedCopy, kOneWay, ShortLoops,
                 kMovesElements | kTakesEmpty),
    OpRow<Pack>("pack", InferPack, ReferencePack, PackUnsupported, LowerPack, kOneWay, ShortLoops,
                kMovesElements | kTakesEmpty),
    OpRow<Unpack>("unpack", InferUnpack, ReferenceUnpack, StridedCopyUnsupported, LowerStridedCopy, kOneWay, ShortLoops,
                  kMovesElements | kTakesEmpty),
    OpRow<Tile>("tile", InferTile, ReferenceTile, StridedCopyUnsupported, LowerStridedCopy, kOneWay, ShortLoops,
                kMovesElements | kTakesEmpty),
    OpRow<BroadcastTo>("broadcast_to", InferBroadcastTo, ReferenceBroadcastTo, StridedCopyUnsupported, LowerStridedCopy,
                       kOneWay, ShortLoops, kMovesElements | kTakesEmpty),
    OpRow<Reverse>("reverse", InferReverse, ReferenceReverse, StridedCopyUnsupported, LowerStridedCopy, kOneWay,
                   ShortLoops, kMovesElements | kTakesEmpty),
    OpRow<DepthToSpace>("depth_to_space", InferDepthToSpace, ReferenceDepthToSpace, StridedCopyUnsupported,
                        LowerStridedCopy, kOneWay, ShortLoops, kMovesElements),
    OpRow<SpaceToDepth>("space_to_depth", InferSpaceToDepth, ReferenceSpaceToDepth, StridedCopyUnsupported,
                        LowerStridedCopy, kOneWay, ShortLoops, kMovesElements),
    OpRow<SpaceToBatch>("space_to_batch", InferSpaceToBatch, ReferenceSpaceToBatch, SpaceToBatchUnsupported,
                        LowerSpaceToBatch, kOneWay, ShortLoops, kMovesElements),
    OpRow<BatchToSpace>("batch_to_space", InferBatchToSpace, ReferenceBatchToSpace, BatchToSpaceUnsupported,
                        LowerBatchToSpace, kOneWay, ShortLoops, kMovesElements),
    OpRow<MirrorPad>("mirror_pad", InferMirrorPad, ReferenceMirrorPad, MirrorPadUnsupported, LowerMirrorPad, kOneWay,
                     ShortLoops, kMovesElements | kTakesEmpty),
    OpRow<DynamicUpdateSlice>("dynamic_update_slice", InferDynamicUpdateSlice, ReferenceDynamicUpdateSlice,
                              DynamicUpdateSliceUnsupported, LowerDynamicUpdateSlice, kOneWay, ShortLoops,
                              kMovesElements | kTakesEmpty),
    OpRow<Gather>("gather", InferGather, ReferenceGather, GatherUnsupported, LowerGather, kOneWay, ShortLoops,
                  kMovesElements | kTakesEmpty),
    OpRow<GatherNd>("gather_nd", InferGatherNd, ReferenceGatherNd, GatherNdUnsupported, LowerGatherNd, kOneWay,
                    ShortLoops, kTakesEmpty),
    OpRow<OneHot>("one_hot", InferOneHot, ReferenceOneHot, OneHotUnsupported, LowerOneHot, kOneWay, ShortLoops,
                  kTakesEmpty),
    OpRow<BatchMatMul>("batch_matmul", InferBatchMatMul, ReferenceBatchMatMul, BatchMatMulUnsupported, LowerBatchMatMul,
                       kOneWay, BatchMatMulTurns, kCostly | kTakesEmpty),
    OpRow<TransposeConv>("transpose_conv", InferTransposeConv, ReferenceTransposeConv, TransposeConvUnsupported,
                         LowerTransposeConv, TransposeConvCandidates, FilterTurns, kTakesStoredConstants | kCostly),
    OpRow<MaxPoolArgmax2D>("max_pool_argmax_2d", InferMaxPoolArgmax2D, ReferenceMaxPoolArgmax2D,
                           MaxPoolArgmax2DUnsupported, LowerMaxPoolArgmax2D, kOneWay, PoolArgmaxTurns, kChoosesIndices),
    OpRow<MaxUnpool2D>("max_unpool_2d", InferMaxUnpool2D, ReferenceMaxUnpool2D, MaxUnpool2DUnsupported,
                       LowerMaxUnpool2D, kOneWay, MaxUnpoolTurns, kPlain),
    OpRow<Resampler>("resampler", InferResampler, ReferenceResampler, ResamplerUnsupported, LowerResampler, kOneWay,
                     ShortLoops, kPlain),
    OpRow<DetectionPostProcess>("TFLite_Detection_PostProcess", InferDetectionPostProcess,
                                ReferenceDetectionPostProcess, DetectionPostProcessUnsupported,
                                LowerDetectionPostProcess, kOneWay, DetectionTurns, kCostly | kFloat32Results),
    OpRow<Lstm>("lstm", InferLstm, ReferenceLstm, LstmUnsupported, LowerLstm, kOneWay, LstmTurns, kTakesEmpty),
    OpRow<Rnn>("rnn", InferRnn, ReferenceRnn, RnnUnsupported, LowerRnn, kOneWay, RnnTurns, kTakesEmpty),
    OpRow<Svdf>("svdf", InferSvdf, ReferenceSvdf, SvdfUnsupported, LowerSvdf, kOneWay, SvdfTurns, kPlain),
    OpRow<MeanVarianceNormalization>("mean_variance_normalization", InferMeanVarianceNormalization,
                                     ReferenceMeanVarianceNormalization, MeanVarianceNormalizationUnsupported,
                                     LowerMeanVarianceNormalization, MeanVarianceNormalizationCandidates,
                                     MeanVarianceTurns, kPlain),
    OpRow<Bitcast>("bitcast", InferBitcast, ReferenceBitcast, nullptr, nullptr, kOneWay, ShortLoops, kPlain),
    OpRow<Random>("random", InferRandom, ReferenceRandom, nullptr, nullptr, kOneWay, ShortLoops, kCostly),
    OpRow<RandomBits>("random_bits", InferRandomBits, ReferenceRandomBits, nullptr, nullptr, kOneWay, ShortLoops,
                      kCostly),
    OpRow<Where>("where", InferWhere, ReferenceWhere, nullptr, nullptr, kOneWay, ShortLoops, kTakesEmpty),
    OpRow<Unique>("unique", InferUnique, ReferenceUnique, nullptr, nullptr, kOneWay, ShortLoops, kTakesEmpty),
    OpRow<NonMaxSuppression>("non_max_suppression", InferNonMaxSuppression, ReferenceNonMaxSuppression, nullptr,
                             nullptr, kOneWay, ShortLoops, kCostly | kChoosesIndices | kTakesEmpty),
    OpRow<Loop>("loop", InferLoop, nullptr, nullptr, nullptr, kOneWay, ShortLoops, kCostly),
    OpRow<UnknownOp>("unknown", InferUnknown, nullptr, nullptr, nullptr, kOneWay, ShortLoops,
                     kTakesStoredConstants | kCostly),
};

constexpr bool RowsFollowTheVariant() {
  for (size_t k = 0; k < std::size(kOps); ++k) {
    if (kOps[k].index != k) return false;
  }
  return std::size(kOps) == std::variant_size_v<Op>;
}
static_assert(RowsFollowTheVariant());

}  // namespace

const OpDef& OpDefOf(const Op& op) {
  return kOps[op.index()];
}

}  // namespace hearth
