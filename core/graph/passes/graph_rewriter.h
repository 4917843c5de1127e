// Rewrites a graph for a pass: tracks producers and readers of each value while nodes are removed and merged. Indices
// of nodes stay valid until Finish().
#ifndef HEARTH_CORE_GRAPH_PASSES_GRAPH_REWRITER_H_
#define HEARTH_CORE_GRAPH_PASSES_GRAPH_REWRITER_H_

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/graph/graph.h"
#include "core/graph/passes/pass.h"

namespace hearth {

class GraphRewriter {
 public:
  explicit GraphRewriter(Graph& graph);

  Graph& graph() { return graph_; }
  int node_count() const { return static_cast<int>(removed_.size()); }
  Node& node(int index) { return graph_.nodes()[index]; }

  // The node that makes `id`; null for inputs, constants and absent values.
  Node* ProducerOf(ValueId id);

  // The same as an index; -1 for none.
  int ProducerIndexOf(ValueId id) const;

  // Indices of the remaining nodes that read `id`, each once, ascending.
  std::vector<int> ReadersOf(ValueId id) const;

  // One node reads the value, once, and it is neither an output nor a state's next content. Then its reader may be
  // merged into its producer.
  bool IsReadOnce(ValueId id) const { return id != kNoValue && reads_[id] == 1 && !graph_.IsKept(id); }

  // Makes nodes read `to` instead of `from`. The graph's outputs and states stay. `to` must be made before the first
  // reader of `from`.
  void ReplaceReads(ValueId from, ValueId to);

  // Makes `producer` write `output` instead of its only output, and removes the node that made `output`.
  void TakeOver(Node& producer, ValueId output);

  // Replaces one input of a node.
  void SetInput(Node& node, size_t position, ValueId id);

  // Replaces the node's operation and inputs; its outputs stay.
  void Replace(Node& node, Op op, std::vector<ValueId> inputs);

  void Remove(int index);
  // Precondition: a node makes `id`.
  void RemoveProducerOf(ValueId id) { Remove(producers_[id]); }

  // Erases the removed nodes and returns whether anything changed.
  Verdict Finish();

 private:
  Graph& graph_;
  // A node reads a value, or did so earlier: ReadersOf checks whether it still does.
  struct Read {
    int node = 0;
    int before = -1;  // the next older one of the same value in read_list_, or -1
  };
  int IndexOf(const Node& node) const { return static_cast<int>(&node - graph_.nodes().data()); }
  void NoteRead(ValueId id, int node);

  std::vector<int> producers_;  // per value: index of its node, or -1
  std::vector<int> reads_;      // per value: how often remaining nodes read it
  std::vector<int> last_read_;  // per value: the newest one in read_list_, or -1
  std::vector<Read> read_list_;
  std::vector<bool> removed_;
  bool changed_ = false;
};

// Calls `rewrite(rewriter, node)` for each node in turn.
template <typename Rewrite>
Verdict RewriteEach(Graph& graph, const Rewrite& rewrite) {
  GraphRewriter rewriter(graph);
  for (int index = 0; index < rewriter.node_count(); ++index) rewrite(rewriter, rewriter.node(index));
  return rewriter.Finish();
}

// The window of an operation whose zero padding counts as elements. Pooling ignores its padding. Null for others.
Window2D* ZeroPaddedWindow(Op& op);
// The activation that the operation applies to its results; null if it has no such attribute.
Activation* ActivationAttribute(Op& op);

// ---- Constants that passes read as numbers ----

// The number of a constant of one element; nothing for other values.
std::optional<float> NumberOf(const Graph& graph, ValueId id);

// The numbers of a float32 constant; nothing for other values.
std::optional<std::vector<float>> FloatsOf(const Graph& graph, ValueId id);

// Whether it is a float32 constant of one element, or of `channels` elements all along its last dimension.
bool IsPerChannel(const Graph& graph, ValueId id, int32_t channels);

// The numbers of such a constant, one per channel; nothing for other values. There may be 2^31 channels: ask
// Graph::HasRoomFor first.
std::optional<std::vector<float>> ReadPerChannel(const Graph& graph, ValueId id, int32_t channels);

// Whether weights with these largest magnitudes, one per channel, can be multiplied by these scales and still be held
// in 16 bits as well as before. Passes don't know the precision that a plan will have, so this counts for all.
bool KeepRangeOfHalves(std::span<const float> largest, std::span<const float> scales);

// Gives a node its filter (operand 1, float32) times these numbers. `scaled`: the products, for a filter of no file.
void SetScaledFilter(GraphRewriter& rewriter, Node& node, StoredForm::Factors factors, std::span<const float> scaled);

}  // namespace hearth

#endif  // HEARTH_CORE_GRAPH_PASSES_GRAPH_REWRITER_H_
