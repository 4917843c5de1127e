// Detection post-processing of floats, with the reference's results but without its doubles.
#include <utility>
#include <variant>

#include "backends/cpu/host/host_node.h"
#include "backends/cpu/host/quantized.h"
#include "core/base/error.h"
#include "core/graph/evaluate.h"
#include "core/graph/ops/detection.h"
#include "core/graph/quantize.h"

namespace hearth {
namespace {

class DetectionNode final : public HostNode {
 public:
  DetectionNode(const HostNodeRequest& request, ReferenceTensor anchors)
      : op_(std::get<DetectionPostProcess>(request.node.op)), anchors_(std::move(anchors)) {
    const Graph& graph = request.graph;
    const Node& node = request.node;
    const Shape &encodings = graph.value(node.inputs[0]).desc.shape, &scores = graph.value(node.inputs[1]).desc.shape;
    in_ = {.encodings = request.arena.floats(node.inputs[0]),
           .scores = request.arena.floats(node.inputs[1]),
           .anchors = anchors_.values,
           .boxes = static_cast<size_t>(encodings[1]),
           .coordinates = static_cast<size_t>(encodings[2]),
           .scores_per_box = static_cast<size_t>(scores[2])};
    const auto output = [&](size_t k) { return request.arena.floats(node.outputs[k]); };
    out_ = {output(0), output(1), output(2), output(3)};
  }

  std::string_view kernel() const override { return "detection"; }
  std::optional<uint64_t> held_bytes() const override { return anchors_.values.size() * sizeof(double); }

  Status Run(RunControl* /*control*/) override {
    DetectObjects(op_, in_, out_);
    return Status::Ok();
  }

 private:
  const DetectionPostProcess& op_;
  ReferenceTensor anchors_;
  DetectionOperands<float> in_;
  DetectionResults<float> out_;
};

bool IsHeldAsFloat(const HostNodeRequest& request, ValueId value) {
  return !request.graph.IsConstant(value) && HeldAs(request.graph.value(value).desc).dtype == DType::kFloat32;
}

}  // namespace

Result<std::unique_ptr<HostNode>> MakeDetectionNode(const HostNodeRequest& request) {
  const Graph& graph = request.graph;
  const Node& node = request.node;
  if (!std::holds_alternative<DetectionPostProcess>(node.op) || !graph.IsConstant(node.inputs[2]) ||
      !IsHeldAsFloat(request, node.inputs[0]) || !IsHeldAsFloat(request, node.inputs[1]))
    return nullptr;
  for (const ValueId output : node.outputs) {
    if (!IsPlainFloat32(graph.value(output).desc)) return nullptr;
  }
  const ValueId anchors = node.inputs[2];
  HEARTH_ASSIGN(ReferenceTensor values,
                ReferenceFromBytes(graph.value(anchors).desc, graph.ReadConstant(anchors).bytes));
  return std::make_unique<DetectionNode>(request, std::move(values));
}

}  // namespace hearth
