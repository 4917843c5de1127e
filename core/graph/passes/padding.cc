#include "core/graph/passes/graph_rewriter.h"

namespace hearth {
namespace {

// The window of an operation whose zero padding counts as elements. Pooling ignores its padding, so a Pad before it
// can't be folded.
Window2D* ZeroPaddedWindow(Op& op) {
  if (auto* convolution = std::get_if<Conv2D>(&op)) return &convolution->window;
  if (auto* depthwise = std::get_if<DepthwiseConv2D>(&op)) return &depthwise->window;
  return nullptr;
}

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

}  // namespace

Result<Verdict> FoldPadding(Graph& graph, const DeviceInfo&) {
  GraphRewriter rewriter(graph);
  for (int index = 0; index < rewriter.node_count(); ++index) {
    Node& node = rewriter.node(index);
    Window2D* window = ZeroPaddedWindow(node.op);
    if (window == nullptr) continue;
    const ValueId padded = node.inputs[0];
    Node* producer = rewriter.ProducerOf(padded);
    const Pad* pad = producer == nullptr ? nullptr : std::get_if<Pad>(&producer->op);
    if (pad == nullptr || !IsSpatialZeroPadding(*pad) || !rewriter.IsReadOnce(padded)) continue;
    const TensorDesc& inner = graph.value(producer->inputs[0]).desc;
    const TensorDesc& outer = graph.value(padded).desc;
    if (inner.dtype != outer.dtype || inner.quantization != outer.quantization) continue;
    AddPadding(*pad, outer.shape, graph.value(node.inputs[1]).desc.shape, *window);
    rewriter.SetInput(node, 0, producer->inputs[0]);
    rewriter.RemoveProducerOf(padded);
  }
  return rewriter.Finish();
}

}  // namespace hearth
