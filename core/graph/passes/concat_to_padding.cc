#include <algorithm>

#include "core/graph/evaluate.h"
#include "core/graph/passes/pass.h"

namespace hearth {
namespace {

bool IsAllZeros(const Graph& graph, ValueId value) {
  const Result<std::vector<float>> numbers = ConstantAsFloats(graph, value);
  return numbers.ok() && std::all_of(numbers->begin(), numbers->end(), [](float number) { return number == 0.0f; });
}

// The index of the only input that is not zeros; -1 if there are several or none.
int PositionAmongZeros(const Graph& graph, const Node& node) {
  int position = -1;
  for (size_t k = 0; k < node.inputs.size(); ++k) {
    if (graph.IsConstant(node.inputs[k])) continue;
    if (position >= 0) return -1;
    position = static_cast<int>(k);
  }
  for (size_t k = 0; position >= 0 && k < node.inputs.size(); ++k) {
    if (static_cast<int>(k) != position && !IsAllZeros(graph, node.inputs[k])) return -1;
  }
  return position;
}

}  // namespace

Result<Verdict> ConcatToPadding(Graph& graph, const DeviceInfo&) {
  Verdict verdict = Verdict::kUnchanged;
  for (Node& node : graph.nodes()) {
    const auto* concat = std::get_if<Concat>(&node.op);
    const TensorDesc& out = graph.value(node.outputs[0]).desc;
    const bool is_plain = out.dtype == DType::kFloat32 && !out.quantization.has_value();
    if (concat == nullptr || node.inputs.size() < 2 || !is_plain || concat->activation != Activation::kNone) continue;
    const int position = PositionAmongZeros(graph, node);
    if (position < 0) continue;
    const int rank = out.shape.rank(), axis = concat->axis < 0 ? concat->axis + rank : concat->axis;
    const std::vector<int32_t> none(static_cast<size_t>(rank), 0);
    Pad pad{Shape::FromSpan(none), Shape::FromSpan(none), 0.0};
    for (size_t k = 0; k < node.inputs.size(); ++k) {
      const int32_t size = graph.value(node.inputs[k]).desc.shape[axis];
      if (static_cast<int>(k) < position) pad.before[axis] += size;
      if (static_cast<int>(k) > position) pad.after[axis] += size;
    }
    node.inputs = {node.inputs[position]};
    node.op = pad;
    verdict = Verdict::kChanged;
  }
  return verdict;
}

}  // namespace hearth
