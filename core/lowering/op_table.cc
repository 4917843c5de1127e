// The table of operations. OpDef (core/graph/op_def.h) describes the columns.
#include <iterator>
#include <variant>

#include "core/base/contains.h"
#include "core/graph/op_def.h"
#include "core/graph/op_text.h"
#include "core/graph/ops/node_inference.h"
#include "core/graph/ops/op_functions.h"
#include "core/lowering/loop_iterations.h"
#include "core/lowering/lowering_support.h"
#include "core/lowering/op_lowerings.h"

namespace hearth {
namespace {

Status InferUnknown(const NodeInference& inference) {
  return UnknownOperation(inference.node());
}

std::optional<std::string> CustomUnsupported(const Graph& /*graph*/, const Node& /*node*/, const Placing& /*placing*/) {
  return "the program brings this operator along, for the CPU";
}

// A row that lacks a column does not compile.
template <typename Attributes>
constexpr OpDef OpRow(std::string_view name, const OperandCounts& operands, InferFunction* infer,
                      ReferenceFunction* reference, UnsupportedFunction* unsupported, LowerFunction* lower,
                      CandidatesFunction* candidates, LoopIterationsFunction* loop_iterations, unsigned traits) {
  return {kOpIndex<Attributes>, name,  operands,   infer,           reference,
          unsupported,          lower, candidates, loop_iterations, traits};
}

constexpr CandidatesFunction* kOneWay = nullptr;
constexpr OperandCounts kOfNode{.depend_on_node = true};

// In the order of the variant Op.
constexpr OpDef kOps[] = {
    OpRow<Conv2D>("conv_2d", {2, 1}, InferConv2D, ReferenceConv2D, NotReal, LowerConv2D, Conv2DCandidates,
                  ConvolutionIterations, kTakesStoredConstants | kCostly),
    OpRow<DepthwiseConv2D>("depthwise_conv_2d", {2, 1}, InferDepthwiseConv2D, ReferenceDepthwiseConv2D, NotReal,
                           LowerDepthwiseConv2D, DepthwiseConv2DCandidates, DepthwiseIterations,
                           kTakesStoredConstants | kCostly),
    OpRow<Pool2D>("pool_2d", {1}, InferPool2D, ReferencePool2D, NotReal, LowerPool2D, kOneWay, PoolIterations, kCostly),
    OpRow<Unary>("unary", {1}, InferUnary, ReferenceUnary, UnaryUnsupported, LowerUnary, kOneWay, ShortLoops,
                 kTakesEmpty),
    OpRow<Binary>("binary", {2}, InferBinary, ReferenceBinary, BinaryUnsupported, LowerBinary, kOneWay, ShortLoops,
                  kTakesEmpty),
    OpRow<Concat>("concat", {1, kAnyNumber}, InferConcat, ReferenceConcat, ConcatUnsupported, LowerConcat, kOneWay,
                  ShortLoops, kMovesElements | kTakesEmpty),
    OpRow<Resize>("resize", {1}, InferResize, ReferenceResize, NotReal, LowerResize, kOneWay, ShortLoops, kPlain),
    OpRow<Reshape>("reshape", {1}, InferReshape, ReferenceReshape, StridedCopyUnsupported, LowerStridedCopy, kOneWay,
                   ShortLoops, kMovesElements | kTakesEmpty),
    OpRow<Softmax>("softmax", {1}, InferSoftmax, ReferenceSoftmax, NotReal, LowerSoftmax, SoftmaxCandidates,
                   ChannelIterations, kTakesEmpty),
    OpRow<Pad>("pad", {1}, InferPad, ReferencePad, PadUnsupported, LowerPad, kOneWay, ShortLoops, kTakesEmpty),
    OpRow<FullyConnected>("fully_connected", {2, 1}, InferFullyConnected, ReferenceFullyConnected, NotReal,
                          LowerFullyConnected, FullyConnectedCandidates, FullyConnectedIterations,
                          kTakesStoredConstants | kCostly | kTakesEmpty),
    OpRow<Reduce>("reduce", {1}, InferReduce, ReferenceReduce, ReduceUnsupported, LowerReduce, kOneWay,
                  ReduceIterations, kTakesEmpty),
    OpRow<ArgReduce>("arg_reduce", {1}, InferArgReduce, ReferenceArgReduce, WideIntegers, LowerArgReduce, kOneWay,
                     ArgReduceIterations, kTakesEmpty),
    OpRow<TopK>("topk", {1, 0, 2}, InferTopK, ReferenceTopK, TopKUnsupported, LowerTopK, kOneWay, TopKIterations,
                kTakesEmpty),
    OpRow<CumSum>("cumsum", {1}, InferCumSum, ReferenceCumSum, WideResults, LowerCumSum, kOneWay, CumSumIterations,
                  kTakesEmpty),
    OpRow<LogSoftmax>("log_softmax", {1}, InferNormalized, ReferenceLogSoftmax, NotReal, LowerLogSoftmax,
                      SoftmaxCandidates, ChannelIterations, kTakesEmpty),
    OpRow<L2Normalization>("l2_normalization", {1}, InferNormalized, ReferenceL2Normalization, NotReal,
                           LowerL2Normalization, kOneWay, ChannelIterations, kPlain),
    OpRow<LocalResponseNormalization>("local_response_normalization", {1}, InferLocalResponseNormalization,
                                      ReferenceLocalResponseNormalization, NotReal, LowerLocalResponseNormalization,
                                      kOneWay, LocalResponseIterations, kPlain),
    OpRow<Select>("select", {3}, InferSelect, ReferenceSelect, SelectUnsupported, LowerSelect, kOneWay, ShortLoops,
                  kMovesElements | kTakesEmpty),
    OpRow<SelectRows>("select_rows", {3}, InferSelectRows, ReferenceSelectRows, WideIntegers, LowerSelectRows, kOneWay,
                      ShortLoops, kMovesElements | kTakesEmpty),
    OpRow<PRelu>("prelu", {2}, InferPRelu, ReferencePRelu, PReluUnsupported, LowerPRelu, kOneWay, ShortLoops,
                 kTakesEmpty),
    OpRow<Cast>("cast", {1}, InferCast, ReferenceCast, CastUnsupported, LowerCast, kOneWay, ShortLoops, kTakesEmpty),
    OpRow<AddN>("add_n", {1, kAnyNumber}, InferAddN, ReferenceAddN, WideResults, LowerAddN, kOneWay, ShortLoops,
                kTakesEmpty),
    OpRow<Transpose>("transpose", {1}, InferTranspose, ReferenceTranspose, StridedCopyUnsupported, LowerStridedCopy,
                     kOneWay, ShortLoops, kMovesElements | kTakesEmpty),
    OpRow<Slice>("slice", {1}, InferSlice, ReferenceSlice, StridedCopyUnsupported, LowerStridedCopy, kOneWay,
                 ShortLoops, kMovesElements | kTakesEmpty),
    OpRow<Split>("split", kOfNode, InferSplit, ReferenceSplit, StridedCopyUnsupported, LowerStridedCopy, kOneWay,
                 ShortLoops, kMovesElements | kTakesEmpty),
    OpRow<Pack>("pack", {1, kAnyNumber}, InferPack, ReferencePack, WideIntegers, LowerPack, kOneWay, ShortLoops,
                kMovesElements | kTakesEmpty),
    OpRow<Unpack>("unpack", kOfNode, InferUnpack, ReferenceUnpack, StridedCopyUnsupported, LowerStridedCopy, kOneWay,
                  ShortLoops, kMovesElements | kTakesEmpty),
    OpRow<Tile>("tile", {1}, InferTile, ReferenceTile, StridedCopyUnsupported, LowerStridedCopy, kOneWay, ShortLoops,
                kMovesElements | kTakesEmpty),
    OpRow<BroadcastTo>("broadcast_to", {1}, InferBroadcastTo, ReferenceBroadcastTo, StridedCopyUnsupported,
                       LowerStridedCopy, kOneWay, ShortLoops, kMovesElements | kTakesEmpty),
    OpRow<Reverse>("reverse", {1}, InferReverse, ReferenceReverse, StridedCopyUnsupported, LowerStridedCopy, kOneWay,
                   ShortLoops, kMovesElements | kTakesEmpty),
    OpRow<DepthToSpace>("depth_to_space", {1}, InferDepthToSpace, ReferenceDepthToSpace, StridedCopyUnsupported,
                        LowerStridedCopy, kOneWay, ShortLoops, kMovesElements),
    OpRow<SpaceToDepth>("space_to_depth", {1}, InferSpaceToDepth, ReferenceSpaceToDepth, StridedCopyUnsupported,
                        LowerStridedCopy, kOneWay, ShortLoops, kMovesElements),
    OpRow<SpaceToBatch>("space_to_batch", {1}, InferSpaceToBatch, ReferenceSpaceToBatch, WideIntegers,
                        LowerSpaceToBatch, kOneWay, ShortLoops, kMovesElements),
    OpRow<BatchToSpace>("batch_to_space", {1}, InferBatchToSpace, ReferenceBatchToSpace, WideIntegers,
                        LowerBatchToSpace, kOneWay, ShortLoops, kMovesElements),
    OpRow<MirrorPad>("mirror_pad", {1}, InferMirrorPad, ReferenceMirrorPad, MirrorPadUnsupported, LowerMirrorPad,
                     kOneWay, ShortLoops, kMovesElements | kTakesEmpty),
    OpRow<DynamicUpdateSlice>("dynamic_update_slice", {3}, InferDynamicUpdateSlice, ReferenceDynamicUpdateSlice,
                              DynamicUpdateSliceUnsupported, LowerDynamicUpdateSlice, kOneWay, ShortLoops,
                              kMovesElements | kTakesEmpty),
    OpRow<Gather>("gather", {2}, InferGather, ReferenceGather, GatherUnsupported, LowerGather, kOneWay, ShortLoops,
                  kMovesElements | kTakesEmpty),
    OpRow<GatherNd>("gather_nd", {2}, InferGatherNd, ReferenceGatherNd, GatherNdUnsupported, LowerGatherNd, kOneWay,
                    ShortLoops, kTakesEmpty),
    OpRow<OneHot>("one_hot", {3}, InferOneHot, ReferenceOneHot, OneHotUnsupported, LowerOneHot, kOneWay, ShortLoops,
                  kTakesEmpty),
    OpRow<BatchMatMul>("batch_matmul", {2}, InferBatchMatMul, ReferenceBatchMatMul, NotReal, LowerBatchMatMul, kOneWay,
                       BatchMatMulIterations, kCostly | kTakesEmpty),
    OpRow<TransposeConv>("transpose_conv", {2, 1}, InferTransposeConv, ReferenceTransposeConv, NotReal,
                         LowerTransposeConv, TransposeConvCandidates, FilterIterations,
                         kTakesStoredConstants | kCostly),
    OpRow<MaxPoolArgmax2D>("max_pool_argmax_2d", {1, 0, 2}, InferMaxPoolArgmax2D, ReferenceMaxPoolArgmax2D, NotReal,
                           LowerMaxPoolArgmax2D, kOneWay, PoolArgmaxIterations, kChoosesIndices),
    OpRow<MaxUnpool2D>("max_unpool_2d", {2}, InferMaxUnpool2D, ReferenceMaxUnpool2D, NotReal, LowerMaxUnpool2D, kOneWay,
                       MaxUnpoolIterations, kPlain),
    OpRow<Resampler>("resampler", {2}, InferResampler, ReferenceResampler, NotReal, LowerResampler, kOneWay, ShortLoops,
                     kPlain),
    OpRow<DetectionPostProcess>("TFLite_Detection_PostProcess", {3, 0, 4}, InferDetectionPostProcess,
                                ReferenceDetectionPostProcess, DetectionPostProcessUnsupported,
                                LowerDetectionPostProcess, kOneWay, DetectionIterations, kCostly | kFloat32Results),
    OpRow<Lstm>("lstm", {6, 6, 3}, InferLstm, ReferenceLstm, LstmUnsupported, LowerLstm, kOneWay, LstmIterations,
                kTakesEmpty),
    OpRow<Rnn>("rnn", {5, 0, 2}, InferRnn, ReferenceRnn, RnnUnsupported, LowerRnn, kOneWay, RnnIterations, kTakesEmpty),
    OpRow<Svdf>("svdf", {4, 1, 2}, InferSvdf, ReferenceSvdf, SvdfUnsupported, LowerSvdf, kOneWay, SvdfIterations,
                kPlain),
    OpRow<MeanVarianceNormalization>("mean_variance_normalization", {1, 2}, InferMeanVarianceNormalization,
                                     ReferenceMeanVarianceNormalization, MeanVarianceNormalizationUnsupported,
                                     LowerMeanVarianceNormalization, MeanVarianceNormalizationCandidates,
                                     MeanVarianceIterations, kPlain),
    OpRow<Bitcast>("bitcast", {1}, InferBitcast, ReferenceBitcast, nullptr, nullptr, kOneWay, ShortLoops, kPlain),
    OpRow<DynamicQuantize>("dynamic_quantize", {1, 0, 3}, InferDynamicQuantize, ReferenceDynamicQuantize, nullptr,
                           nullptr, kOneWay, ShortLoops, kPlain),
    OpRow<ConvInteger>("conv_integer", {2, 1}, InferConvInteger, ReferenceConvInteger, nullptr, nullptr, kOneWay,
                       ShortLoops, kCostly | kTakesStoredConstants),
    OpRow<Random>("random", kOfNode, InferRandom, ReferenceRandom, nullptr, nullptr, kOneWay, ShortLoops, kCostly),
    OpRow<RandomBits>("random_bits", {1, 0, 2}, InferRandomBits, ReferenceRandomBits, nullptr, nullptr, kOneWay,
                      ShortLoops, kCostly),
    OpRow<Scatter>("scatter", {3}, InferScatter, ReferenceScatter, nullptr, nullptr, kOneWay, ShortLoops, kTakesEmpty),
    OpRow<Where>("where", {1, 0, 2}, InferWhere, ReferenceWhere, nullptr, nullptr, kOneWay, ShortLoops, kTakesEmpty),
    OpRow<Unique>("unique", {1, 0, 3}, InferUnique, ReferenceUnique, nullptr, nullptr, kOneWay, ShortLoops,
                  kTakesEmpty),
    OpRow<NonMaxSuppression>("non_max_suppression", kOfNode, InferNonMaxSuppression, ReferenceNonMaxSuppression,
                             nullptr, nullptr, kOneWay, ShortLoops, kCostly | kTakesEmpty),
    OpRow<Loop>("loop", kOfNode, InferLoop, nullptr, nullptr, nullptr, kOneWay, ShortLoops, kCostly),
    OpRow<Custom>("custom", kOfNode, InferCustom, nullptr, CustomUnsupported, nullptr, kOneWay, ShortLoops, kCostly),
    OpRow<UnknownOp>("unknown", kOfNode, InferUnknown, nullptr, nullptr, nullptr, kOneWay, ShortLoops,
                     kTakesStoredConstants | kCostly),
};

static_assert(AreInOrder(kOps, &OpDef::index) && std::size(kOps) == std::variant_size_v<OpVariant>);

}  // namespace

const OpDef& OpDefOf(const Op& op) {
  return kOps[op.index()];
}

}  // namespace hearth
