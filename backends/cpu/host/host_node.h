// A prepared node of a host program, and the functions that make one.
#ifndef HEARTH_BACKENDS_CPU_HOST_HOST_NODE_H_
#define HEARTH_BACKENDS_CPU_HOST_HOST_NODE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "backends/cpu/host/host_arena.h"
#include "backends/cpu/host/quantized.h"
#include "backends/cpu/host/shared_weights.h"
#include "backends/cpu/host/worker_pool.h"
#include "core/base/run_control.h"
#include "core/graph/graph.h"

namespace hearth {

class HostExecutor;  // core/plan/host_executor.h
class XnnpackNodes;  // xnnpack_nodes.h

// Reads and writes its arena. Run is for one thread at a time.
class HostNode {
 public:
  virtual ~HostNode() = default;
  // `control`: what may end a loop in it early; may be null.
  virtual Status Run(RunControl* control) = 0;
  virtual std::string_view kernel() const = 0;  // its name in profiles
  // Bytes that the node made of its constants for itself, or lists of addresses that it keeps; nullopt if it holds them
  // as floats, or not at all.
  virtual std::optional<uint64_t> held_bytes() const { return std::nullopt; }
  // An operand that it does not read, as it makes the same of another one; kNoValue if it reads all.
  virtual ValueId unread() const { return kNoValue; }
};

// A node whose runs call a function object, which can't fail. One class for all objects: classes of their own would be
// 10 KB of type names and tables.
class WorkNode final : public HostNode {
 public:
  using Work = std::unique_ptr<void, void (*)(void*)>;
  WorkNode(std::string_view kernel, Work work, void (*run)(void* work), std::optional<uint64_t> held_bytes)
      : kernel_(kernel), work_(std::move(work)), run_(run), held_bytes_(held_bytes) {}
  Status Run(RunControl* /*control*/) override {
    run_(work_.get());
    return Status::Ok();
  }
  std::string_view kernel() const override { return kernel_; }
  std::optional<uint64_t> held_bytes() const override { return held_bytes_; }

 private:
  std::string_view kernel_;
  Work work_;
  void (*run_)(void* work);
  std::optional<uint64_t> held_bytes_;
};

template <typename Work>
std::unique_ptr<HostNode> NodeOf(std::string_view kernel, Work work,
                                 std::optional<uint64_t> held_bytes = std::nullopt) {
  WorkNode::Work own(new Work(std::move(work)), [](void* object) { delete static_cast<Work*>(object); });
  const auto run = [](void* object) { (*static_cast<Work*>(object))(); };
  return std::make_unique<WorkNode>(kernel, std::move(own), run, held_bytes);
}

// Arguments of the makers of host nodes. Graph, arena and workers must outlive the node, weights need not.
struct HostNodeRequest {
  const Graph& graph;
  const Node& node;
  HostArena& arena;
  WorkerPool& workers;
  ProgramWeights& weights;
  HostExecutor& executor;  // prepares the graphs of loops; outlives the node, as does xnnpack
  XnnpackNodes& xnnpack;
  bool decides_indices = false;  // its output is among ValuesThatDecideIndices (core/graph/value_analysis.h)
  bool in_integers = false;      // the node reads and writes quantized values as they are stored

  // Input or output `k` as the model declares it.
  const TensorDesc& in(size_t k) const { return graph.value(node.inputs[k]).desc; }
  const TensorDesc& out(size_t k = 0) const { return graph.value(node.outputs[k]).desc; }
  // The form and the memory in which the node finds a value.
  TensorDesc HeldAs(ValueId value) const {
    const TensorDesc& desc = graph.value(value).desc;
    return in_integers || graph.IsConstant(value) ? desc : hearth::HeldAs(desc);
  }
  std::span<std::byte> bytes(ValueId value) const { return in_integers ? arena.stored(value) : arena.bytes(value); }
  // The same for a node that reads constants as they are stored.
  std::span<const std::byte> StoredBytes(ValueId value) const {
    return graph.IsConstant(value) ? weights.ReadInPlace(graph.ConstantBytes(value)) : bytes(value);
  }
};

// Who makes nodes of some operations. Null for a node that it does not take.
struct NodeMaker {
  Result<std::unique_ptr<HostNode>> (*make)(const HostNodeRequest& request);
  uint64_t ops;  // one bit for each operation of which it takes nodes, by the place in Op

  bool Takes(const Op& op) const;
};

// In the order in which they are asked. The last one, the reference, takes any operation.
std::span<const NodeMaker> NodeMakers();

// The node of the first maker that takes it. Null for a node in integers that must run in floats.
Result<std::unique_ptr<HostNode>> MakeHostNode(const HostNodeRequest& request);

// The makers. They run once for each node of a start: cold ones are compiled for size.

// Reshape, copy and concatenation of tensors with one stored type: moves bytes unchanged.
[[gnu::cold]] Result<std::unique_ptr<HostNode>> MakeCopyNode(const HostNodeRequest& request);

// A function of each element, for values held as float32.
[[gnu::cold]] Result<std::unique_ptr<HostNode>> MakeUnaryNode(const HostNodeRequest& request);

// Movement of elements: views with strides, mirrored and zero padding, blocks, nearest pixels. Any type.
[[gnu::cold]] Result<std::unique_ptr<HostNode>> MakeMovementNode(const HostNodeRequest& request);

// Products of matrices held as float32, whether or not one is constant.
[[gnu::cold]] Result<std::unique_ptr<HostNode>> MakeMatrixProductNode(const HostNodeRequest& request);

// Fully connected layers of float32 with few rows and constant weights in 16, 8 or 4 bits.
[[gnu::cold]] Result<std::unique_ptr<HostNode>> MakeStoredProductNode(const HostNodeRequest& request);

// Convolutions of float32 with constant weights, without groups. As the next ones, in float64 sums if the output
// decides indices.
[[gnu::cold]] Result<std::unique_ptr<HostNode>> MakeDenseConvolutionNode(const HostNodeRequest& request);

// Depthwise convolutions of float32 with constant weights and one output for each channel.
[[gnu::cold]] Result<std::unique_ptr<HostNode>> MakeDepthwiseConvolutionNode(const HostNodeRequest& request);

// Operations of two operands of any type, and PRELU.
[[gnu::cold]] Result<std::unique_ptr<HostNode>> MakeBinaryNode(const HostNodeRequest& request);

// Functions of single integers and truth values, and add_n.
[[gnu::cold]] Result<std::unique_ptr<HostNode>> MakeIntegerFunctionNode(const HostNodeRequest& request);

// Choice between two tensors, element by element or row by row.
[[gnu::cold]] Result<std::unique_ptr<HostNode>> MakeSelectNode(const HostNodeRequest& request);

// Movement by indices that are known only in a run: gather, gather_nd, dynamic_update_slice, scatter.
[[gnu::cold]] Result<std::unique_ptr<HostNode>> MakeGatherNode(const HostNodeRequest& request);

// Conversion between types that are not quantized.
[[gnu::cold]] Result<std::unique_ptr<HostNode>> MakeCastNode(const HostNodeRequest& request);

// Reductions over any dimensions.
[[gnu::cold]] Result<std::unique_ptr<HostNode>> MakeReduceNode(const HostNodeRequest& request);

// Softmax, log softmax and L2 normalization of the rows of the last dimension.
[[gnu::cold]] Result<std::unique_ptr<HostNode>> MakeRowsNode(const HostNodeRequest& request);

// argmax, argmin, top_k, cumsum and one_hot along one dimension.
[[gnu::cold]] Result<std::unique_ptr<HostNode>> MakeSearchNode(const HostNodeRequest& request);

// LSTM, RNN and SVDF with constant weights.
[[gnu::cold]] Result<std::unique_ptr<HostNode>> MakeRecurrentNode(const HostNodeRequest& request);

// Layer, instance and group normalization of float32.
[[gnu::cold]] Result<std::unique_ptr<HostNode>> MakeNormalizeNode(const HostNodeRequest& request);

// Max pooling with argmax, and its unpooling, of float32.
[[gnu::cold]] Result<std::unique_ptr<HostNode>> MakePoolingIndexNode(const HostNodeRequest& request);

// Non-maximum suppression of boxes and scores held as float32, with constant anchors.
[[gnu::cold]] Result<std::unique_ptr<HostNode>> MakeDetectionNode(const HostNodeRequest& request);
[[gnu::cold]] Result<std::unique_ptr<HostNode>> MakeResamplerNode(const HostNodeRequest& request);

// A loop whose end depends on data.
[[gnu::cold]] Result<std::unique_ptr<HostNode>> MakeLoopNode(const HostNodeRequest& request);

// An operator that the program registered. Its node reads and writes quantized values as they are stored.
[[gnu::cold]] Result<std::unique_ptr<HostNode>> MakeCustomNode(const HostNodeRequest& request);

// Any node of core's float64 reference. kUnsupported for an operation that it lacks.
[[gnu::cold]] Result<std::unique_ptr<HostNode>> MakeReferenceNode(const HostNodeRequest& request);
// The same for one that is made in a run, when the request has ended.
[[gnu::cold]] Result<std::unique_ptr<HostNode>> MakeReferenceNode(const Graph& graph, const Node& node,
                                                                  const HostArena& arena);

}  // namespace hearth

#endif  // HEARTH_BACKENDS_CPU_HOST_HOST_NODE_H_
