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

// A constant as the reference reads it.
struct SharedReference {
  ReferenceTensor tensor;
  uint64_t bytes() const { return tensor.values.size() * sizeof(double); }
};

class ReferenceNode final : public HostNode {
 public:
  // `constants`: one per input, null if it is not constant.
  ReferenceNode(const Graph& graph, const Node& node, const HostArena& arena,
                std::vector<std::shared_ptr<const SharedReference>> constants)
      : graph_(graph), node_(node), arena_(arena), constants_(std::move(constants)) {}

  std::string_view kernel() const override { return "reference"; }
  std::optional<uint64_t> held_bytes() const override { return 0; }  // besides what nodes share

  Status Run(RunControl* /*control*/) override {
    std::vector<ReferenceTensor> loaded(node_.inputs.size());
    std::vector<const ReferenceTensor*> inputs;
    for (size_t k = 0; k < node_.inputs.size(); ++k) {
      if (constants_[k] == nullptr && node_.inputs[k] != kNoValue)
        HEARTH_TRY(Load(node_.inputs[k], loaded[k]).Within(NodeLabel(node_)));
      const ReferenceTensor* const operand = constants_[k] != nullptr ? &constants_[k]->tensor : &loaded[k];
      inputs.push_back(node_.inputs[k] == kNoValue ? nullptr : operand);
    }
    HEARTH_ASSIGN(const std::vector<ReferenceTensor> outputs, EvaluateNode(graph_, node_, inputs));
    for (size_t k = 0; k < outputs.size(); ++k)
      HEARTH_TRY(Store(outputs[k], node_.outputs[k]).Within(NodeLabel(node_)));
    return Status::Ok();
  }

 private:
  Status Load(ValueId value, ReferenceTensor& loaded) const {
    const TensorDesc& desc = graph_.value(value).desc;
    if (HeldAs(desc).dtype != DType::kFloat32) {
      HEARTH_ASSIGN(loaded, ReferenceFromBytes(desc, arena_.bytes(value)));
      return Status::Ok();
    }
    const std::span<const float> floats = arena_.floats(value);
    loaded = {desc.shape, {floats.begin(), floats.end()}};
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
  std::vector<std::shared_ptr<const SharedReference>> constants_;
};

Result<std::unique_ptr<HostNode>> MakeReferenceOf(const Graph& graph, const Node& node, const HostArena& arena,
                                                  ProgramWeights& weights) {
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
  std::vector<std::shared_ptr<const SharedReference>> constants(node.inputs.size());
  for (size_t k = 0; k < node.inputs.size(); ++k) {
    const ValueId value = node.inputs[k];
    if (!graph.IsConstant(value)) continue;
    WeightsKey key("reference");
    key.Add(graph, value);
    const auto convert = [&]() -> Result<SharedReference> {
      Result<ReferenceTensor> constant = ReferenceFromBytes(graph.value(value).desc, graph.ReadConstant(value).bytes);
      if (!constant.ok()) return constant.status().Within(NodeLabel(node));
      return SharedReference{std::move(constant).value()};
    };
    HEARTH_ASSIGN(constants[k], weights.FindOrTry<SharedReference>(key, convert));
  }
  return std::make_unique<ReferenceNode>(graph, node, arena, std::move(constants));
}

}  // namespace

Result<std::unique_ptr<HostNode>> MakeReferenceNode(const HostNodeRequest& request) {
  return MakeReferenceOf(request.graph, request.node, request.arena, request.weights);
}

Result<std::unique_ptr<HostNode>> MakeReferenceNode(const Graph& graph, const Node& node, const HostArena& arena) {
  SharedWeights none;
  ProgramWeights weights(none, 0);
  return MakeReferenceOf(graph, node, arena, weights);
}

}  // namespace hearth
