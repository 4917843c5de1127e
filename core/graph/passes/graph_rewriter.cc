#include "core/graph/passes/graph_rewriter.h"

#include <algorithm>

#include "core/base/error.h"

namespace hearth {

GraphRewriter::GraphRewriter(Graph& graph)
    : graph_(graph),
      producers_(graph.Producers()),
      reads_(graph.values().size(), 0),
      last_read_(graph.values().size(), -1),
      removed_(graph.nodes().size(), false) {
  read_list_.reserve(2 * removed_.size());
  for (int index = 0; index < node_count(); ++index) {
    for (ValueId id : node(index).inputs) {
      if (id != kNoValue) NoteRead(id, index);
    }
  }
}

void GraphRewriter::NoteRead(ValueId id, int node) {
  ++reads_[id];
  read_list_.push_back({node, last_read_[id]});
  last_read_[id] = static_cast<int>(read_list_.size()) - 1;
}

int GraphRewriter::ProducerIndexOf(ValueId id) const {
  // Constants that a pass has just added are not in the table.
  return id == kNoValue || static_cast<size_t>(id) >= producers_.size() ? -1 : producers_[id];
}

Node* GraphRewriter::ProducerOf(ValueId id) {
  const int index = ProducerIndexOf(id);
  return index < 0 ? nullptr : &node(index);
}

std::vector<int> GraphRewriter::ReadersOf(ValueId id) const {
  std::vector<int> readers;
  for (int read = last_read_[id]; read >= 0; read = read_list_[read].before) {
    const int index = read_list_[read].node;
    if (!removed_[index] && std::ranges::count(graph_.nodes()[index].inputs, id) > 0) readers.push_back(index);
  }
  std::ranges::sort(readers);
  readers.erase(std::unique(readers.begin(), readers.end()), readers.end());
  return readers;
}

void GraphRewriter::ReplaceReads(ValueId from, ValueId to) {
  for (int index : ReadersOf(from)) {
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
    last_read_.resize(id + 1, -1);
    producers_.resize(id + 1, -1);
  }
  if (node.inputs.size() <= position) node.inputs.resize(position + 1, kNoValue);
  if (node.inputs[position] != kNoValue) --reads_[node.inputs[position]];
  node.inputs[position] = id;
  NoteRead(id, IndexOf(node));
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
  if (!changed_) return Verdict::kUnchanged;  // most passes: a large graph does not fit into a processor's caches
  std::vector<Node> kept;
  kept.reserve(removed_.size());
  for (int index = 0; index < node_count(); ++index) {
    if (!removed_[index]) kept.push_back(std::move(node(index)));
  }
  graph_.nodes() = std::move(kept);
  return Verdict::kChanged;
}

}  // namespace hearth
