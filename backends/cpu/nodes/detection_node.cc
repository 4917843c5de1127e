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
  HEARTH_ASSIGN(ReferenceTensor values, ReferenceFromBytes(request.in(2), graph.ReadConstant(node.inputs[2]).bytes));
  const uint64_t held_bytes = values.values.size() * sizeof(double);
  const Shape &encodings = request.in(0).shape, &scores = request.in(1).shape;
  DetectionOperands<float> in{.encodings = request.arena.floats(node.inputs[0]),
                              .scores = request.arena.floats(node.inputs[1]),
                              .anchors = {},
                              .boxes = static_cast<size_t>(encodings[1]),
                              .coordinates = static_cast<size_t>(encodings[2]),
                              .scores_per_box = static_cast<size_t>(scores[2])};
  const auto output = [&](size_t k) { return request.arena.floats(node.outputs[k]); };
  const DetectionResults<float> out{output(0), output(1), output(2), output(3)};
  return NodeOf(
      "detection",
      [op = std::get_if<DetectionPostProcess>(&node.op), in, anchors = std::move(values), out]() mutable {
        in.anchors = anchors.values;
        DetectObjects(*op, in, out);
      },
      held_bytes);
}

}  // namespace hearth
