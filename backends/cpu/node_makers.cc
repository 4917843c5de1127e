// Who runs an operation: its makers are asked from the top, and the first that takes the node runs it. In builds
// without the CPU's own kernels bytes are moved as ever, loops run, and core's reference computes everything else.
#include <cstdint>

#include "backends/cpu/host/host_node.h"
#include "backends/cpu/host/quantized.h"
#include "backends/cpu/host/vectorized.h"
#include "backends/cpu/integer/integer_nodes.h"
#include "backends/cpu/integer/matrix_kernel.h"
#include "backends/cpu/xnnpack_nodes.h"
#include "core/base/error.h"
#include "core/graph/quantize.h"

namespace hearth {
namespace {

#ifdef HEARTH_WITH_CPU_KERNELS
// Whether one operand repeats the other's short rows. XNNPACK makes each row a piece of a loop, which costs 35 ns.
bool RepeatsShortRows(const Graph& graph, const Node& node) {
  constexpr int32_t kShortRow = 128;
  if (!std::holds_alternative<Binary>(node.op)) return false;
  const Shape &a = graph.value(node.inputs[0]).desc.shape, &b = graph.value(node.inputs[1]).desc.shape;
  const Shape& out = graph.value(node.outputs[0]).desc.shape;
  const bool is_broadcast = a.element_count() != b.element_count() && a.element_count() > 1 && b.element_count() > 1;
  return is_broadcast && out[out.rank() - 1] <= kShortRow;
}

// Hearth's own nodes where they were measured faster than XNNPACK's, with AVX-512 (AVX2 was not timed): float products,
// depthwise convolutions, short rows, and roots, of which XNNPACK's takes 100 times as long below 0. Sums for a
// quantized result are XNNPACK's, whose ties are refined.
Result<std::unique_ptr<HostNode>> MakePreferredNode(const HostNodeRequest& request) {
  const Node& node = request.node;
  if (BestVectorSet() == VectorSet::kBase || node.outputs.empty()) return nullptr;
  const TensorDesc& out = request.graph.value(node.outputs[0]).desc;
  if (!IsPlainFloat32(out)) return nullptr;
  if (RepeatsShortRows(request.graph, node)) return MakeBinaryNode(request);
  if (node.op == Op(Unary{UnaryKind::kSqrt})) return MakeUnaryNode(request);
  for (const auto& make :
       {MakeDenseConvolutionNode, MakeDepthwiseConvolutionNode, MakeStoredProductNode, MakeMatrixProductNode}) {
    HEARTH_ASSIGN(std::unique_ptr<HostNode> product, make(request));
    if (product != nullptr) return product;
  }
  return nullptr;
}

Result<std::unique_ptr<HostNode>> MakeXnnpackNode(const HostNodeRequest& request) {
  return request.xnnpack.Make(request);
}
#endif

static_assert(std::variant_size_v<OpVariant> <= 64);
template <typename... T>
constexpr uint64_t Of() {
  return ((uint64_t{1} << kOpIndex<T>) | ...);
}
constexpr uint64_t kAll = ~uint64_t{0};

constexpr NodeMaker kMakers[] = {
    {MakeCopyNode, Of<Reshape, Unary, Bitcast, Pack, Concat>()},
    {MakeMovementNode, Of<Reshape, Pad, MirrorPad, BatchToSpace, SpaceToBatch, Resize, DepthToSpace, SpaceToDepth,
                          Transpose, Slice, Split, Unpack, Tile, BroadcastTo, Reverse, Gather>()},
#ifdef HEARTH_WITH_CPU_KERNELS
    {MakePreferredNode, Of<Conv2D, DepthwiseConv2D, FullyConnected, BatchMatMul, Unary, Binary>()},
    {MakeXnnpackNode, Of<Conv2D, DepthwiseConv2D, FullyConnected, Pool2D, Unary, Binary, Resize, Reduce, Pad,
                         TransposeConv, PRelu, DepthToSpace>()},
    {MakeDenseConvolutionNode, Of<Conv2D, DepthwiseConv2D>()},
    {MakeDepthwiseConvolutionNode, Of<Conv2D, DepthwiseConv2D>()},
    {MakeMatrixProductNode, Of<FullyConnected, BatchMatMul>()},
    {MakeUnaryNode, Of<Unary>()},
    {MakeBinaryNode, Of<Binary, PRelu>()},
    {MakeIntegerFunctionNode, Of<Unary, AddN>()},
    {MakeSelectNode, Of<Select, SelectRows>()},
    {MakeGatherNode, Of<Gather, GatherNd, DynamicUpdateSlice, Scatter>()},
    {MakeCastNode, Of<Cast>()},
    {MakeReduceNode, Of<Reduce>()},
    {MakeRowsNode, Of<Softmax, LogSoftmax, L2Normalization>()},
    {MakeSearchNode, Of<ArgReduce, TopK, CumSum, OneHot, Unique>()},
    {MakeRecurrentNode, Of<Lstm, Rnn, Svdf>()},
    {MakeNormalizeNode, Of<MeanVarianceNormalization>()},
    {MakePoolingIndexNode, Of<MaxPoolArgmax2D, MaxUnpool2D>()},
    {MakeDetectionNode, Of<DetectionPostProcess>()},
    {MakeResamplerNode, Of<Resampler>()},
    {MakeIntegerSumsNode, Of<ConvInteger>()},
    {MakeDynamicQuantizeNode, Of<DynamicQuantize>()},
#endif
    {MakeLoopNode, Of<Loop>()},
    {MakeCustomNode, Of<Custom>()},
    {MakeReferenceNode, kAll},
};

}  // namespace

bool NodeMaker::Takes(const Op& op) const {
  return (ops >> op.index() & 1) != 0;
}

std::span<const NodeMaker> NodeMakers() {
  return kMakers;
}

Result<std::unique_ptr<HostNode>> MakeHostNode(const HostNodeRequest& request) {
#ifdef HEARTH_WITH_CPU_KERNELS
  const bool is_custom = std::holds_alternative<Custom>(request.node.op);
  if (request.in_integers && !is_custom) return MakeIntegerNode(request);
#endif
  for (const NodeMaker& maker : kMakers) {
    if (!maker.Takes(request.node.op)) continue;
    HEARTH_ASSIGN(std::unique_ptr<HostNode> node, maker.make(request));
    if (node != nullptr) return node;
  }
  return nullptr;
}

#ifdef HEARTH_WITH_CPU_KERNELS
bool MultipliesBytes() {
  return BestIntegerSet() != IntegerSet::kNone;
}
#else
bool MultipliesBytes() {
  return false;
}
std::vector<bool> NodesInIntegers(const Graph& /*graph*/, std::span<const int> nodes,
                                  const std::vector<bool>& /*decides_indices*/, const std::set<int>& /*refused*/) {
  return std::vector<bool>(nodes.size());
}
#endif

}  // namespace hearth
