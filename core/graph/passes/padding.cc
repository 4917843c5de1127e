#include <algorithm>

#include "core/graph/evaluate.h"
#include "core/graph/ops/axis_split.h"
#include "core/graph/passes/graph_rewriter.h"
#include "core/graph/passes/pass.h"
#include "core/graph/quantize.h"

namespace hearth {
namespace {

// Pads only height and width of [B,H,W,C].
bool IsSpatialZeroPadding(const Pad& pad) {
  if (pad.value != 0.0f || pad.before.rank() != 4 || pad.after.rank() != 4) return false;
  if (pad.before[0] != 0 || pad.after[0] != 0 || pad.before[3] != 0 || pad.after[3] != 0) return false;
  return pad.before[1] >= 0 && pad.before[2] >= 0 && pad.after[1] >= 0 && pad.after[2] >= 0;
}

void AddPadding(const Pad& pad, const Shape& padded, const Shape& filter, Window2D& window) {
  Padding2D padding = ResolvePadding(window, padded[1], padded[2], filter[1], filter[2]);
  padding.mode = PaddingMode::kExplicit;
  padding.top += pad.before[1];
  padding.bottom += pad.after[1];
  padding.left += pad.before[2];
  padding.right += pad.after[2];
  window.padding = padding;
}

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

Result<Verdict> FoldPadding(Graph& graph, const DeviceInfo&) {
  return RewriteEach(graph, [&](GraphRewriter& rewriter, Node& node) {
    Window2D* window = ZeroPaddedWindow(node.op);
    if (window == nullptr) return;
    const ValueId padded = node.inputs[0];
    Node* producer = rewriter.ProducerOf(padded);
    const Pad* pad = producer == nullptr ? nullptr : std::get_if<Pad>(&producer->op);
    if (pad == nullptr || !IsSpatialZeroPadding(*pad) || !rewriter.IsReadOnce(padded)) return;
    const TensorDesc& inner = graph.value(producer->inputs[0]).desc;
    const TensorDesc& outer = graph.value(padded).desc;
    if (inner.dtype != outer.dtype || inner.quantization != outer.quantization) return;
    AddPadding(*pad, outer.shape, graph.value(node.inputs[1]).desc.shape, *window);
    rewriter.SetInput(node, 0, producer->inputs[0]);
    rewriter.RemoveProducerOf(padded);
  });
}

Result<Verdict> ConcatToPadding(Graph& graph, const DeviceInfo&) {
  Verdict verdict = Verdict::kUnchanged;
  for (Node& node : graph.nodes()) {
    const auto* concat = std::get_if<Concat>(&node.op);
    const TensorDesc& out = graph.value(node.outputs[0]).desc;
    if (concat == nullptr || node.inputs.size() < 2 || concat->activation != Activation::kNone) continue;
    if (!IsPlainFloat32(out)) continue;
    const int position = PositionAmongZeros(graph, node);
    if (position < 0) continue;
    const int rank = out.shape.rank(), axis = *AxisFromFront(concat->axis, rank);
    const Shape none = Shape::FromSpan(std::vector<int32_t>(static_cast<size_t>(rank), 0));
    Pad pad{none, none, 0.0};
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
