// One prepared node of a host program, whoever runs it.
#ifndef HEARTH_BACKENDS_CPU_HOST_NODE_H_
#define HEARTH_BACKENDS_CPU_HOST_NODE_H_

#include <memory>
#include <optional>
#include <string_view>

#include "backends/cpu/held_weights.h"
#include "backends/cpu/host_arena.h"
#include "backends/cpu/worker_pool.h"
#include "core/graph/graph.h"

namespace hearth {

class HostExecutor;  // core/plan/host_executor.h

// Reads and writes the arena it was made for. Run is for one thread at a time.
class HostNode {
 public:
  virtual ~HostNode() = default;
  virtual Status Run() = 0;
  virtual std::string_view kernel() const = 0;  // what profiles call it
  // Of what it made of the node's constants for itself; nothing where it holds them as floats, or not at all.
  virtual std::optional<uint64_t> held_bytes() const { return std::nullopt; }
};

// What the makers of host nodes are given; graph, arena and workers outlive the node, weights does not.
struct HostNodeRequest {
  const Graph& graph;
  const Node& node;
  const HostArena& arena;
  WorkerPool& workers;
  ProgramWeights& weights;
  bool decides_indices = false;  // its output is among ValuesThatDecideIndices (core/graph/index_values.h)
  bool in_integers = false;      // the node reads and writes quantized values as they are stored

  // What the node finds a value as, and where.
  TensorDesc HeldAs(ValueId value) const;
  std::span<std::byte> bytes(ValueId value) const { return in_integers ? arena.stored(value) : arena.bytes(value); }
};

// Each returns null for a node that it does not take, so that the next maker is asked.

// Reshape, copy and concatenation of equally stored tensors: bytes are moved as they are.
Result<std::unique_ptr<HostNode>> MakeCopyNode(const HostNodeRequest& request);

// A function of each element, of values that are held as float32.
Result<std::unique_ptr<HostNode>> MakeUnaryNode(const HostNodeRequest& request);

// Movement of elements: views with strides, mirrored and zero padding, blocks, nearest pixels. Any type.
Result<std::unique_ptr<HostNode>> MakeMovementNode(const HostNodeRequest& request);

// Products of matrices that are held as float32, whether or not one is constant.
Result<std::unique_ptr<HostNode>> MakeMatrixProductNode(const HostNodeRequest& request);

// Convolutions of float32 with constant weights, without groups.
Result<std::unique_ptr<HostNode>> MakeDenseConvolutionNode(const HostNodeRequest& request);

// Depthwise convolutions of float32 with constant weights, an output for each channel.
Result<std::unique_ptr<HostNode>> MakeDepthwiseConvolutionNode(const HostNodeRequest& request);

// Operations of two operands of any type, and PRELU.
Result<std::unique_ptr<HostNode>> MakeBinaryNode(const HostNodeRequest& request);

// Functions of single integers and truth values, and add_n.
Result<std::unique_ptr<HostNode>> MakeIntegerFunctionNode(const HostNodeRequest& request);

// Choosing between two tensors, element by element or row by row.
Result<std::unique_ptr<HostNode>> MakeSelectNode(const HostNodeRequest& request);

// Movement by indices that are known only in a run: gather, gather_nd, dynamic_update_slice.
Result<std::unique_ptr<HostNode>> MakeGatherNode(const HostNodeRequest& request);

// Conversion between types that are not quantized.
Result<std::unique_ptr<HostNode>> MakeCastNode(const HostNodeRequest& request);

// Reductions over any dimensions.
Result<std::unique_ptr<HostNode>> MakeReduceNode(const HostNodeRequest& request);

// Softmax, its logarithm, L2 normalization: rows of the last dimension.
Result<std::unique_ptr<HostNode>> MakeRowsNode(const HostNodeRequest& request);

// Along one dimension: argmax and argmin, top_k, cumsum, one_hot.
Result<std::unique_ptr<HostNode>> MakeSearchNode(const HostNodeRequest& request);

// LSTM and RNN with constant weights.
Result<std::unique_ptr<HostNode>> MakeRecurrentNode(const HostNodeRequest& request);

// Layer, instance and group normalization of float32.
Result<std::unique_ptr<HostNode>> MakeNormalizeNode(const HostNodeRequest& request);

// Convolutions of float32 with constant weights whose output decides indices: sums in float64.
Result<std::unique_ptr<HostNode>> MakeExactConvolutionNode(const HostNodeRequest& request);

// Max pooling with argmax, and its unpooling, of float32.
Result<std::unique_ptr<HostNode>> MakePoolingIndexNode(const HostNodeRequest& request);

// Non-maximum suppression of boxes and scores that are held as float32, with constant anchors.
Result<std::unique_ptr<HostNode>> MakeDetectionNode(const HostNodeRequest& request);

// A loop that only data end. `executor`, which outlives the node, prepares what is in it.
Result<std::unique_ptr<HostNode>> MakeLoopNode(const HostNodeRequest& request, HostExecutor& executor, int threads);

// Any node that core's float64 reference knows. kUnsupported for an operation that it does not.
Result<std::unique_ptr<HostNode>> MakeReferenceNode(const HostNodeRequest& request);

}  // namespace hearth

#endif  // HEARTH_BACKENDS_CPU_HOST_NODE_H_
