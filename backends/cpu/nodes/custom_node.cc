// Operators that the program brings along, on values as they are stored.
#include "backends/cpu/host/host_node.h"
#include "core/graph/ops/custom.h"

namespace hearth {
namespace {

class CustomHostNode final : public HostNode {
 public:
  explicit CustomHostNode(const HostNodeRequest& request)
      : graph_(request.graph), node_(request.node), inputs_(node_.inputs.size()), outputs_(node_.outputs.size()) {
    for (size_t k = 0; k < inputs_.size(); ++k)
      if (node_.inputs[k] != kNoValue) inputs_[k] = request.StoredBytes(node_.inputs[k]);
    for (size_t k = 0; k < outputs_.size(); ++k) outputs_[k] = request.bytes(node_.outputs[k]);
  }

  std::string_view kernel() const override { return "custom"; }
  std::optional<uint64_t> held_bytes() const override { return 0; }
  Status Run(RunControl* /*control*/) override { return RunCustom(graph_, node_, inputs_, outputs_); }

 private:
  const Graph& graph_;
  const Node& node_;
  std::vector<std::span<const std::byte>> inputs_;
  std::vector<std::span<std::byte>> outputs_;
};

}  // namespace

Result<std::unique_ptr<HostNode>> MakeCustomNode(const HostNodeRequest& request) {
  if (!std::holds_alternative<Custom>(request.node.op)) return nullptr;
  return std::make_unique<CustomHostNode>(request);
}

}  // namespace hearth
