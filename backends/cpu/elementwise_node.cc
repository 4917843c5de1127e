// A function of each element, for values held as floats.
#include "backends/cpu/apply_unary.h"
#include "backends/cpu/host_node.h"
#include "backends/cpu/host_output.h"
#include "backends/cpu/quantized.h"

namespace hearth {
namespace {

class UnaryNode final : public HostNode {
 public:
  explicit UnaryNode(const HostNodeRequest& request)
      : unary_(std::get<Unary>(request.node.op)),
        x_(request.arena.floats(request.node.inputs[0])),
        out_(request),
        workers_(request.workers) {}

  std::string_view kernel() const override { return "elementwise"; }

  Status Run(RunControl* /*control*/) override {
    ApplyUnary(unary_, x_, out_.floats(), workers_);
    out_.Finish();
    return Status::Ok();
  }

 private:
  const Unary& unary_;
  std::span<const float> x_;
  HostOutput out_;
  WorkerPool& workers_;
};

}  // namespace

Result<std::unique_ptr<HostNode>> MakeUnaryNode(const HostNodeRequest& request) {
  const Graph& graph = request.graph;
  const Node& node = request.node;
  const auto* unary = std::get_if<Unary>(&node.op);
  if (unary == nullptr || graph.IsConstant(node.inputs[0])) return std::unique_ptr<HostNode>();
  for (ValueId value : {node.inputs[0], node.outputs[0]}) {
    if (HeldAs(graph.value(value).desc).dtype != DType::kFloat32) return std::unique_ptr<HostNode>();
  }
  if (request.arena.floats(node.inputs[0]).size() != request.arena.floats(node.outputs[0]).size()) {
    return std::unique_ptr<HostNode>();
  }
  return std::unique_ptr<HostNode>(std::make_unique<UnaryNode>(request));
}

}  // namespace hearth
