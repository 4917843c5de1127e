// The functions in the rows of op_table.cc: for each operation, why a device cannot run a node, its candidate kernels,
// and its dispatches. OpDef (core/graph/op_def.h) describes each function; <family>_lower.cc holds the family's.
#ifndef HEARTH_CORE_LOWERING_OP_LOWERINGS_H_
#define HEARTH_CORE_LOWERING_OP_LOWERINGS_H_

#include <optional>
#include <string>
#include <vector>

#include "core/graph/op_def.h"

namespace hearth {

// batch_matmul
std::optional<std::string> BatchMatMulUnsupported(const Graph& graph, const Node& node, const Placing& placing);
Status LowerBatchMatMul(const Node& node, PlanBuilder& builder);

// blocks
std::optional<std::string> SpaceToBatchUnsupported(const Graph& graph, const Node& node, const Placing& placing);
Status LowerSpaceToBatch(const Node& node, PlanBuilder& builder);
std::optional<std::string> BatchToSpaceUnsupported(const Graph& graph, const Node& node, const Placing& placing);
Status LowerBatchToSpace(const Node& node, PlanBuilder& builder);

// cast
std::optional<std::string> CastUnsupported(const Graph& graph, const Node& node, const Placing& placing);
Status LowerCast(const Node& node, PlanBuilder& builder);

// concat
std::optional<std::string> ConcatUnsupported(const Graph& graph, const Node& node, const Placing& placing);
Status LowerConcat(const Node& node, PlanBuilder& builder);

// convolution
std::optional<std::string> Conv2DUnsupported(const Graph& graph, const Node& node, const Placing& placing);
std::vector<KernelChoice> Conv2DCandidates(const Node& node, const PlanBuilder& builder);
Status LowerConv2D(const Node& node, PlanBuilder& builder);
std::optional<std::string> DepthwiseConv2DUnsupported(const Graph& graph, const Node& node, const Placing& placing);
std::vector<KernelChoice> DepthwiseConv2DCandidates(const Node& node, const PlanBuilder& builder);
Status LowerDepthwiseConv2D(const Node& node, PlanBuilder& builder);

// cumsum
std::optional<std::string> CumSumUnsupported(const Graph& graph, const Node& node, const Placing& placing);
Status LowerCumSum(const Node& node, PlanBuilder& builder);

// detection
std::optional<std::string> DetectionPostProcessUnsupported(const Graph& graph, const Node& node,
                                                           const Placing& placing);
Status LowerDetectionPostProcess(const Node& node, PlanBuilder& builder);

// dynamic_update_slice
std::optional<std::string> DynamicUpdateSliceUnsupported(const Graph& graph, const Node& node, const Placing& placing);
Status LowerDynamicUpdateSlice(const Node& node, PlanBuilder& builder);

// elementwise
std::optional<std::string> UnaryUnsupported(const Graph& graph, const Node& node, const Placing& placing);
Status LowerUnary(const Node& node, PlanBuilder& builder);
std::optional<std::string> BinaryUnsupported(const Graph& graph, const Node& node, const Placing& placing);
Status LowerBinary(const Node& node, PlanBuilder& builder);
std::optional<std::string> PReluUnsupported(const Graph& graph, const Node& node, const Placing& placing);
Status LowerPRelu(const Node& node, PlanBuilder& builder);
std::optional<std::string> AddNUnsupported(const Graph& graph, const Node& node, const Placing& placing);
Status LowerAddN(const Node& node, PlanBuilder& builder);

// fully_connected
std::optional<std::string> FullyConnectedUnsupported(const Graph& graph, const Node& node, const Placing& placing);
std::vector<KernelChoice> FullyConnectedCandidates(const Node& node, const PlanBuilder& builder);
Status LowerFullyConnected(const Node& node, PlanBuilder& builder);

// gather
Status LowerGather(const Node& node, PlanBuilder& builder);
Status LowerGatherNd(const Node& node, PlanBuilder& builder);
std::optional<std::string> GatherUnsupported(const Graph& graph, const Node& node, const Placing& placing);
std::optional<std::string> GatherNdUnsupported(const Graph& graph, const Node& node, const Placing& placing);
std::optional<std::string> OneHotUnsupported(const Graph& graph, const Node& node, const Placing& placing);
Status LowerOneHot(const Node& node, PlanBuilder& builder);

// mean_variance
std::optional<std::string> MeanVarianceNormalizationUnsupported(const Graph& graph, const Node& node,
                                                                const Placing& placing);
std::vector<KernelChoice> MeanVarianceNormalizationCandidates(const Node& node, const PlanBuilder& builder);
Status LowerMeanVarianceNormalization(const Node& node, PlanBuilder& builder);

// normalization
Status LowerL2Normalization(const Node& node, PlanBuilder& builder);
Status LowerLocalResponseNormalization(const Node& node, PlanBuilder& builder);
std::optional<std::string> NormalizationUnsupported(const Graph& graph, const Node& node, const Placing& placing);

// pad
std::optional<std::string> PadUnsupported(const Graph& graph, const Node& node, const Placing& placing);
Status LowerPad(const Node& node, PlanBuilder& builder);
std::optional<std::string> MirrorPadUnsupported(const Graph& graph, const Node& node, const Placing& placing);
Status LowerMirrorPad(const Node& node, PlanBuilder& builder);

// pooling
std::optional<std::string> Pool2DUnsupported(const Graph& graph, const Node& node, const Placing& placing);
Status LowerPool2D(const Node& node, PlanBuilder& builder);

// recurrent
std::optional<std::string> LstmUnsupported(const Graph& graph, const Node& node, const Placing& placing);
Status LowerLstm(const Node& node, PlanBuilder& builder);
std::optional<std::string> RnnUnsupported(const Graph& graph, const Node& node, const Placing& placing);
Status LowerRnn(const Node& node, PlanBuilder& builder);
std::optional<std::string> SvdfUnsupported(const Graph& graph, const Node& node, const Placing& placing);
Status LowerSvdf(const Node& node, PlanBuilder& builder);

// reduce
std::optional<std::string> ReduceUnsupported(const Graph& graph, const Node& node, const Placing& placing);
Status LowerReduce(const Node& node, PlanBuilder& builder);

// resize
std::optional<std::string> ResizeUnsupported(const Graph& graph, const Node& node, const Placing& placing);
Status LowerResize(const Node& node, PlanBuilder& builder);

// search
Status LowerArgReduce(const Node& node, PlanBuilder& builder);
Status LowerTopK(const Node& node, PlanBuilder& builder);
// For both operations: they compare 32-bit integers.
std::optional<std::string> SearchUnsupported(const Graph& graph, const Node& node, const Placing& placing);

// select
std::optional<std::string> SelectUnsupported(const Graph& graph, const Node& node, const Placing& placing);
Status LowerSelect(const Node& node, PlanBuilder& builder);
std::optional<std::string> SelectRowsUnsupported(const Graph& graph, const Node& node, const Placing& placing);
Status LowerSelectRows(const Node& node, PlanBuilder& builder);

// softmax
std::optional<std::string> SoftmaxUnsupported(const Graph& graph, const Node& node, const Placing& placing);
std::vector<KernelChoice> SoftmaxCandidates(const Node& node, const PlanBuilder& builder);
Status LowerSoftmax(const Node& node, PlanBuilder& builder);
Status LowerLogSoftmax(const Node& node, PlanBuilder& builder);

// split
std::optional<std::string> PackUnsupported(const Graph& graph, const Node& node, const Placing& placing);
Status LowerPack(const Node& node, PlanBuilder& builder);

// transpose_conv
std::optional<std::string> TransposeConvUnsupported(const Graph& graph, const Node& node, const Placing& placing);
std::vector<KernelChoice> TransposeConvCandidates(const Node& node, const PlanBuilder& builder);
Status LowerTransposeConv(const Node& node, PlanBuilder& builder);

// unpooling
std::optional<std::string> MaxPoolArgmax2DUnsupported(const Graph& graph, const Node& node, const Placing& placing);
Status LowerMaxPoolArgmax2D(const Node& node, PlanBuilder& builder);
std::optional<std::string> MaxUnpool2DUnsupported(const Graph& graph, const Node& node, const Placing& placing);
Status LowerMaxUnpool2D(const Node& node, PlanBuilder& builder);
std::optional<std::string> ResamplerUnsupported(const Graph& graph, const Node& node, const Placing& placing);
Status LowerResampler(const Node& node, PlanBuilder& builder);

// strided_copy
// For the operations that ViewOf knows.
std::optional<std::string> StridedCopyUnsupported(const Graph& graph, const Node& node, const Placing& placing);
// One dispatch for each output, or none if the output is an alias of the input.
Status LowerStridedCopy(const Node& node, PlanBuilder& builder);

}  // namespace hearth

#endif  // HEARTH_CORE_LOWERING_OP_LOWERINGS_H_
