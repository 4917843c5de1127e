// Nodes in core's float64 reference: the last resort, correct but slow and on one thread.
#include <algorithm>

#include "backends/cpu/host/host_node.h"
#include "backends/cpu/host/quantized.h"
#include "core/base/error.h"
#include "core/graph/evaluate.h"
#include "core/graph/op_def.h"
#include "core/graph/op_text.h"

namespace hearth {
namespace {

class ReferenceNode final : public HostNode {
 public:
  // `operands`: one per input, filled if it is constant.
  ReferenceNode(const HostNodeRequest& request, std::vector<ReferenceTensor> operands)
      : graph_(request.graph), node_(request.node), arena_(request.arena), operands_(std::move(operands)) {}

  std::string_view kernel() const override { return "reference"; }

  Status Run(RunControl* /*control*/) override {
    std::vector<const ReferenceTensor*> inputs;
    for (size_t k = 0; k < node_.inputs.size(); ++k) {
      HEARTH_TRY(Load(k).Within(NodeLabel(node_)));
      inputs.push_back(node_.inputs[k] == kNoValue ? nullptr : &operands_[k]);
    }
    HEARTH_ASSIGN(const std::vector<ReferenceTensor> outputs, EvaluateNode(graph_, node_, inputs));
    for (size_t k = 0; k < outputs.size(); ++k)
      HEARTH_TRY(Store(outputs[k], node_.outputs[k]).Within(NodeLabel(node_)));
    return Status::Ok();
  }

 private:
  Status Load(size_t k) {
    const ValueId value = node_.inputs[k];
    if (value == kNoValue || graph_.IsConstant(value)) return Status::Ok();
    const TensorDesc& desc = graph_.value(value).desc;
    if (HeldAs(desc).dtype != DType::kFloat32) {
      HEARTH_ASSIGN(operands_[k], ReferenceFromBytes(desc, arena_.bytes(value)));
      return Status::Ok();
    }
    const std::span<const float> floats = arena_.floats(value);
    operands_[k].shape = desc.shape;
    operands_[k].values.assign(floats.begin(), floats.end());
    return Status::Ok();
  }

  Status Store(const ReferenceTensor& tensor, ValueId value) {
    const TensorDesc& desc = graph_.value(value).desc;
    if (HeldAs(desc).dtype != DType::kFloat32) return ReferenceToBytes(tensor, desc, arena_.bytes(value));
    std::transform(tensor.values.begin(), tensor.values.end(), arena_.floats(value).data(),
                   [](double real) { return static_cast<float>(real); });
    return Status::Ok();
  }

  const Graph& graph_;
  const Node& node_;
  const HostArena& arena_;
  std::vector<ReferenceTensor> operands_;  // constants, and memory of other operands that is kept between runs
};

}  // namespace

Result<std::unique_ptr<HostNode>> MakeReferenceNode(const HostNodeRequest& request) {
  const Graph& graph = request.graph;
  const Node& node = request.node;
  if (OpDefOf(node.op).reference == nullptr) {
    return Error(StatusCode::kUnsupported, "node {}, {}: no device and no host code implements this operation",
                 &node - graph.nodes().data(), NodeLabel(node));
  }
  const auto is_word = [&](ValueId value) {
    return value != kNoValue && graph.value(value).desc.dtype == DType::kUInt64;
  };
  if (std::ranges::any_of(node.inputs, is_word) || std::ranges::any_of(node.outputs, is_word)) {
    return Error(StatusCode::kUnsupported,
                 "{}: uint64 is moved, compared and added only, because the CPU's other code keeps 53 of its 64 bits",
                 NodeLabel(node));
  }
  std::vector<ReferenceTensor> operands(node.inputs.size());
  for (size_t k = 0; k < node.inputs.size(); ++k) {
    const ValueId value = node.inputs[k];
    if (!graph.IsConstant(value)) continue;
    Result<ReferenceTensor> constant = ReferenceFromBytes(graph.value(value).desc, graph.ConstantBytes(value));
    if (!constant.ok()) return constant.status().Within(NodeLabel(node));
    operands[k] = std::move(constant).value();
  }
  return std::make_unique<ReferenceNode>(request, std::move(operands));
}

}  // namespace hearth
