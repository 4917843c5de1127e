#include "core/graph/passes/graph_rewriter.h"

#include "core/base/error.h"

namespace hearth {

GraphRewriter::GraphRewriter(Graph& graph)
    : graph_(graph),
      producers_(graph.values().size(), -1),
      reads_(graph.values().size(), 0),
      removed_(graph.nodes().size(), false) {
  for (int index = 0; index < node_count(); ++index) {
    for (ValueId id : node(index).outputs) producers_[id] = index;
    for (ValueId id : node(index).inputs) {
      if (id != kNoValue) ++reads_[id];
    }
  }
}

int GraphRewriter::ProducerIndexOf(ValueId id) const {
  // Constants that a pass has just added lie beyond the table.
  return id == kNoValue || static_cast<size_t>(id) >= producers_.size() ? -1 : producers_[id];
}

Node* GraphRewriter::ProducerOf(ValueId id) {
  const int index = ProducerIndexOf(id);
  return index < 0 ? nullptr : &node(index);
}

std::vector<int> GraphRewriter::ReadersOf(ValueId id) const {
  std::vector<int> readers = graph_.ConsumersOf(id);
  std::erase_if(readers, [&](int index) { return removed_[index]; });
  return readers;
}

void GraphRewriter::ReplaceReads(ValueId from, ValueId to) {
  for (int index = 0; index < node_count(); ++index) {
    if (removed_[index]) continue;
    for (size_t position = 0; position < node(index).inputs.size(); ++position) {
      if (node(index).inputs[position] == from) SetInput(node(index), position, to);
    }
  }
}

void GraphRewriter::TakeOver(Node& producer, ValueId output) {
  HEARTH_CHECK(producer.outputs.size() == 1 && producers_[output] >= 0);
  const int index = producers_[producer.outputs[0]];
  Remove(producers_[output]);
  producers_[producer.outputs[0]] = -1;
  producers_[output] = index;
  producer.outputs[0] = output;
}

void GraphRewriter::SetInput(Node& node, size_t position, ValueId id) {
  if (static_cast<size_t>(id) >= reads_.size()) {
    reads_.resize(id + 1, 0);
    producers_.resize(id + 1, -1);
  }
  if (node.inputs.size() <= position) node.inputs.resize(position + 1, kNoValue);
  if (node.inputs[position] != kNoValue) --reads_[node.inputs[position]];
  node.inputs[position] = id;
  ++reads_[id];
  changed_ = true;
}

void GraphRewriter::Replace(Node& node, Op op, std::vector<ValueId> inputs) {
  for (ValueId id : node.inputs) {
    if (id != kNoValue) --reads_[id];
  }
  node.op = std::move(op);
  node.inputs.clear();
  for (size_t position = 0; position < inputs.size(); ++position) {
    if (inputs[position] != kNoValue) SetInput(node, position, inputs[position]);
  }
  changed_ = true;
}

void GraphRewriter::Remove(int index) {
  if (removed_[index]) return;
  removed_[index] = true;
  changed_ = true;
  for (ValueId id : node(index).inputs) {
    if (id != kNoValue) --reads_[id];
  }
  for (ValueId id : node(index).outputs) producers_[id] = -1;
}

Verdict GraphRewriter::Finish() {
  std::vector<Node> kept;
  kept.reserve(removed_.size());
  for (int index = 0; index < node_count(); ++index) {
    if (!removed_[index]) kept.push_back(std::move(node(index)));
  }
  graph_.nodes() = std::move(kept);
  return changed_ ? Verdict::kChanged : Verdict::kUnchanged;
}

}  // namespace hearth
