#include "backends/cpu/integer/integer_nodes.h"

#include "backends/cpu/host/movement.h"
#include "backends/cpu/integer/layer.h"
#include "backends/cpu/integer/matrix_kernel.h"
#include "core/base/error.h"
#include "core/graph/ops/elementwise_table.h"
#include "core/graph/quantize.h"

namespace hearth {
namespace {

bool IsIn8Bits(const Graph& graph, ValueId value) {
  return value != kNoValue && IsStoredIn8Bits(graph.value(value).desc);
}

bool HasWeightsOf8Bits(const Graph& graph, const Node& node) {
  if (BestIntegerSet() == IntegerSet::kNone || !graph.IsConstant(node.inputs[1])) return false;
  const TensorDesc& weights = graph.value(node.inputs[1]).desc;
  return IsQuantized(weights) && (weights.dtype == DType::kInt8 || weights.dtype == DType::kUInt8);
}

// Precondition: the node's first input and first output are 8-bit.
bool HasIntegerKernel(const Graph& graph, const Node& node) {
  const bool has_weights = std::holds_alternative<Conv2D>(node.op) ||
                           std::holds_alternative<DepthwiseConv2D>(node.op) ||
                           std::holds_alternative<FullyConnected>(node.op);
  if (has_weights) return HasWeightsOf8Bits(graph, node);
  if (std::holds_alternative<Binary>(node.op)) return IsIn8Bits(graph, node.inputs[1]);
  const auto* resize = std::get_if<Resize>(&node.op);
  return std::holds_alternative<Unary>(node.op) || std::holds_alternative<Pool2D>(node.op) ||
         std::holds_alternative<Reduce>(node.op) || (resize != nullptr && resize->kind == ResizeKind::kBilinear);
}

// Whether the node converts between floats and 8 bits.
bool Converts(const Graph& graph, const Node& node) {
  const auto* unary = std::get_if<Unary>(&node.op);
  if (unary == nullptr) return false;
  const TensorDesc &in = graph.value(node.inputs[0]).desc, &out = graph.value(node.outputs[0]).desc;
  if (unary->kind == UnaryKind::kQuantize) return IsPlainFloat32(in) && IsStoredIn8Bits(out);
  return unary->kind == UnaryKind::kDequantize && IsStoredIn8Bits(in) && IsPlainFloat32(out);
}

}  // namespace

std::vector<bool> NodesInIntegers(const Graph& graph, std::span<const int> nodes,
                                  const std::vector<bool>& decides_indices, const std::set<int>& refused) {
  std::set<ValueId> in_floats;  // values that a node makes as floats
  std::vector<bool> in_integers;
  for (int index : nodes) {
    const Node& node = graph.nodes()[static_cast<size_t>(index)];
    bool chosen = false;
    if (!refused.contains(index) && !node.inputs.empty() && !node.outputs.empty() && node.inputs[0] != kNoValue) {
      const bool keeps_to_floats = decides_indices[static_cast<size_t>(node.outputs[0])];
      const bool in_8_bits = IsIn8Bits(graph, node.inputs[0]) && IsIn8Bits(graph, node.outputs[0]);
      if (MovesBytes(graph, node)) {
        size_t stored = 0, floats = 0;
        for (ValueId value : node.inputs) {
          if (!IsIn8Bits(graph, value) || graph.IsConstant(value)) continue;
          ++(in_floats.contains(value) ? floats : stored);
        }
        chosen = stored > 0 && stored >= floats;
      } else {
        chosen = !keeps_to_floats && ((in_8_bits && HasIntegerKernel(graph, node)) || Converts(graph, node));
      }
    }
    in_integers.push_back(chosen);
    if (!chosen) in_floats.insert(node.outputs.begin(), node.outputs.end());
  }
  return in_integers;
}

Result<std::unique_ptr<HostNode>> MakeIntegerNode(const HostNodeRequest& request) {
  for (const auto& make : {MakeIntegerMatrixNode, MakeIntegerDepthwiseNode, MakeIntegerBinaryNode, MakeIntegerPoolNode,
                           MakeIntegerResizeNode}) {
    if (std::unique_ptr<HostNode> node = make(request)) return node;
  }
  if (!MovesBytes(request.graph, request.node)) return MakeIntegerUnaryNode(request);
  HEARTH_ASSIGN(std::unique_ptr<HostNode> node, MakeCopyNode(request));
  if (node != nullptr) return node;
  return MakeMovementNode(request);
}

bool MovesBytes(const Graph& graph, const Node& node) {
  if (node.inputs.empty() || node.inputs[0] == kNoValue) return false;
  const TensorDesc& in = graph.value(node.inputs[0]).desc;
  for (ValueId value : node.outputs) {
    if (!IsStoredIn8Bits(graph.value(value).desc)) return false;
  }
  if (!IsStoredIn8Bits(in)) return false;
  if (std::holds_alternative<Concat>(node.op) || std::holds_alternative<Pack>(node.op)) {
    for (ValueId value : node.inputs) {
      if (value == kNoValue || !IsStoredIn8Bits(graph.value(value).desc)) return false;
    }
    const auto* concat = std::get_if<Concat>(&node.op);
    return concat == nullptr || ActivationBounds(concat->activation).has_value();
  }
  if (std::holds_alternative<Reshape>(node.op)) return true;
  for (size_t k = 0; k < node.outputs.size(); ++k) {
    const TensorDesc& out = graph.value(node.outputs[k]).desc;
    if (in.dtype != out.dtype || in.quantization != out.quantization || !MovedPartsOf(graph, node, k)) return false;
  }
  return true;
}

}  // namespace hearth
