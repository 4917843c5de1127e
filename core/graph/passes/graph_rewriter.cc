#include "core/graph/passes/graph_rewriter.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/error.h"
#include "core/graph/evaluate.h"
#include "core/graph/quantize.h"

namespace hearth {

GraphRewriter::GraphRewriter(Graph& graph)
    : graph_(graph),
      producers_(graph.Producers()),
      reads_(graph.values().size(), 0),
      last_read_(graph.values().size(), -1),
      removed_(graph.nodes().size(), false) {
  read_list_.reserve(2 * removed_.size());
  for (int index = 0; index < node_count(); ++index) {
    for (ValueId id : Present(node(index).inputs)) NoteRead(id, index);
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
  for (ValueId id : Present(node.inputs)) --reads_[id];
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
  for (ValueId id : Present(node(index).inputs)) --reads_[id];
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

Window2D* ZeroPaddedWindow(Op& op) {
  if (auto* convolution = std::get_if<Conv2D>(&op)) return &convolution->window;
  if (auto* depthwise = std::get_if<DepthwiseConv2D>(&op)) return &depthwise->window;
  return nullptr;
}

Activation* ActivationAttribute(Op& op) {
  return std::visit(
      [](auto& attributes) -> Activation* {
        if constexpr (requires { attributes.activation; }) return &attributes.activation;
        return nullptr;
      },
      op);
}

// ---- Constants ----

namespace {

// Near zero, float16 numbers are 2^-24 apart. Where the largest weight is 2^-13, usual weights, a quarter of it, are
// rounded by 0.06 %, three times as much as larger ones. Filters of 0.05 and more for pictures scaled by 1/255 stay
// above; those for sound scaled by 1/32768 would be off by 1.3 %.
constexpr float kLeastLargestWeight = 0x1p-13f;
constexpr float kLargestWeight = 0x1p15f;  // half the largest float16 number

}  // namespace

std::optional<float> NumberOf(const Graph& graph, ValueId id) {
  if (!graph.IsConstant(id) || graph.value(id).desc.shape.element_count() != 1) return std::nullopt;
  const Result<std::vector<float>> number = ConstantAsFloats(graph, id);
  return number.ok() ? std::optional(number->front()) : std::nullopt;
}

std::optional<std::vector<float>> FloatsOf(const Graph& graph, ValueId id) {
  if (!graph.IsConstant(id) || !IsPlainFloat32(graph.value(id).desc)) return std::nullopt;
  Result<std::vector<float>> values = ConstantAsFloats(graph, id);
  if (!values.ok()) return std::nullopt;
  return std::move(values).value();
}

bool IsPerChannel(const Graph& graph, ValueId id, int32_t channels) {
  if (!graph.IsConstant(id) || !IsPlainFloat32(graph.value(id).desc)) return false;
  const Shape& shape = graph.value(id).desc.shape;
  const int64_t count = shape.element_count();
  return count == 1 || (shape.rank() > 0 && count == channels && shape[shape.rank() - 1] == channels);
}

std::optional<std::vector<float>> ReadPerChannel(const Graph& graph, ValueId id, int32_t channels) {
  if (!IsPerChannel(graph, id, channels)) return std::nullopt;
  std::optional<std::vector<float>> values = FloatsOf(graph, id);
  if (values && values->size() == 1) values->resize(static_cast<size_t>(channels), values->front());
  return values;
}

bool KeepRangeOfHalves(std::span<const float> largest, std::span<const float> scales) {
  for (size_t k = 0; k < largest.size(); ++k) {
    const float before = largest[k], scale = std::fabs(scales[k]), after = before * scale;
    // No digit is lost by zeros, and at most two by a scale like those of batch normalization.
    const bool scales_down = scale != 0 && scale < 0.25f && before != 0;
    if ((scales_down && after < kLeastLargestWeight) || (after > kLargestWeight && after > before)) return false;
  }
  return true;
}

void SetScaledFilter(GraphRewriter& rewriter, Node& node, StoredForm::Factors factors, std::span<const float> scaled) {
  Graph& graph = rewriter.graph();
  const Value old = graph.value(node.inputs[1]);
  Value made{old.name + "/scaled", old.desc, graph.AddScaled(node.inputs[1], std::move(factors))};
  rewriter.SetInput(
      node, 1,
      made.constant ? graph.AddValue(std::move(made)) : graph.AddFloatConstant(made.name, made.desc.shape, scaled));
}

}  // namespace hearth
