// What nodes make where that is known before any run: constants instead of nodes. No device runs nodes that take or
// make nothing.
#include <algorithm>

#include "core/base/error.h"
#include "core/graph/op_def.h"
#include "core/graph/ops/view_of.h"
#include "frontends/writer/node_writer.h"

namespace hearth {
namespace {

// Evaluation is slow and takes 8 bytes per element: this suffices for shapes and for constants that only move.
constexpr int64_t kMaxFoldedElements = 1 << 24;
// Multiply-adds of an operation that needs many per element.
constexpr double kMaxFoldedWork = 1 << 26;

bool IsAffordable(const Graph& graph, const Node& node) {
  const OpDef& def = OpDefOf(node.op);
  if (def.reference == nullptr || !def.Has(kCostly)) return def.reference != nullptr;
  if (node.inputs.size() < 2 || node.inputs[1] == kNoValue) return false;
  // The second factor of a product. Filters have the output channels first.
  const Shape& factor = graph.value(node.inputs[1]).desc.shape;
  const bool has_outputs_first = factor.rank() > 0 && !std::holds_alternative<BatchMatMul>(node.op);
  double work = static_cast<double>(factor.element_count()) / (has_outputs_first ? std::max(1, factor[0]) : 1);
  work *= static_cast<double>(graph.value(node.outputs[0]).desc.shape.element_count());
  return work < kMaxFoldedWork;
}

// Whether one side of an AND is false: "i < 10 and ..." is false regardless of the data.
bool IsConjunctionWithFalse(const Graph& graph, const Node& node) {
  const auto* binary = std::get_if<Binary>(&node.op);
  if (binary == nullptr || binary->kind != BinaryKind::kLogicalAnd) return false;
  return std::any_of(node.inputs.begin(), node.inputs.end(), [&](ValueId id) {
    return graph.IsConstant(id) && graph.value(id).desc.dtype == DType::kBool &&
           graph.value(id).desc.shape.element_count() == 1 && graph.ConstantBytes(id)[0] == std::byte{0};
  });
}

// The results of an inferred node; none where they can't be had.
ConstantResults ResultsOf(const Graph& graph, const Node& node, ReadingBudget& budget) {
  const bool is_constant = !node.inputs.empty() && std::ranges::all_of(node.inputs, [&](ValueId id) {
    return id == kNoValue || graph.IsConstant(id);
  });
  const bool is_false = IsConjunctionWithFalse(graph, node);
  if (!is_constant && !is_false && !HasEmptyTensor(graph, node)) return {};
  size_t bytes_made = 0;
  for (ValueId id : node.outputs) bytes_made += graph.value(id).desc.size_bytes();
  // Empty operands may have large results: zeros, of which a small file could ask for any number.
  if (!budget.HasAmpleRoom(bytes_made) || !budget.ChargeMade(bytes_made)) return {};
  if (ConstantResults results = ResultsOfNothing(graph, node); !results.empty()) return results;
  if (is_false) return {std::vector<std::byte>(bytes_made)};
  if (!is_constant || !IsAffordable(graph, node)) return {};
  const bool reads_parts = std::holds_alternative<Gather>(node.op) || std::holds_alternative<Slice>(node.op);
  int64_t elements = reads_parts ? -graph.value(node.inputs[0]).desc.shape.element_count() : 0;
  for (ValueId id : node.inputs) elements += id == kNoValue ? 0 : graph.value(id).desc.shape.element_count();
  for (ValueId id : node.outputs) elements += graph.value(id).desc.shape.element_count();
  if (elements > kMaxFoldedElements || !budget.ChargeMade(static_cast<size_t>(elements))) return {};
  return ResultsOfConstants(graph, node);
}

// Whether a reshape of a constant got that constant's own bytes, or a transpose of one those to be put in order.
bool SharesBytes(Graph& graph, const Node& node, ReadingBudget& budget) {
  const bool is_reshape = std::holds_alternative<Reshape>(node.op);
  if ((!is_reshape && !std::holds_alternative<Transpose>(node.op)) || !graph.IsConstant(node.inputs[0])) return false;
  const Value& from = graph.value(node.inputs[0]);
  Value& to = graph.value(node.outputs[0]);
  if (from.desc.dtype != to.desc.dtype || from.desc.quantization || to.desc.quantization) return false;
  const size_t bytes = to.desc.size_bytes();
  if (HasEmptyTensor(graph, node) || !budget.HasAmpleRoom(bytes) || !budget.ChargeMade(bytes)) return false;
  to.constant = is_reshape ? from.constant : graph.AddReordered(node.inputs[0], *ViewOf(graph, node, 0));
  return to.constant.has_value();
}

bool IsRecurrent(const Op& op) {
  return std::holds_alternative<Lstm>(op) || std::holds_alternative<Rnn>(op) || std::holds_alternative<Svdf>(op);
}

// For a recurrent layer over a sequence without elements: its states are copied. Output k is the new content of the
// state that is input k.
void SkipSequence(Graph& graph, const Node& node) {
  for (size_t k = 0; k < node.outputs.size(); ++k) {
    if (HasNoElements(graph, node.outputs[k])) {
      graph.MakeConstant(node.outputs[k], {});
    } else if (k > 0) {
      graph.AddNode({Unary{.kind = UnaryKind::kCopy}, {node.inputs[k]}, {node.outputs[k]}, "", node.source_index});
    }
  }
}

// Parts without elements are no work for a node that splits.
void DropEmptyParts(Graph& graph, Node& node) {
  auto* split = std::get_if<Split>(&node.op);
  if (split == nullptr) return;
  for (size_t k = node.outputs.size(); k-- > 0 && node.outputs.size() > 1;) {
    if (split->sizes[k] != 0 || !HasNoElements(graph, node.outputs[k])) continue;
    graph.MakeConstant(node.outputs[k], {});
    node.outputs.erase(node.outputs.begin() + static_cast<ptrdiff_t>(k));
    split->sizes.erase(split->sizes.begin() + static_cast<ptrdiff_t>(k));
  }
}

}  // namespace

// Adds an inferred node, or makes its results constants. A node that makes an output of the model (`is_kept`) stays,
// unless it takes or makes nothing.
void NodeWriter::Place(Node node, bool is_kept) {
  // The turns of a loop that is written out turn the same constant.
  std::vector<int64_t> turned;
  if (const auto* transpose = std::get_if<Transpose>(&node.op); transpose != nullptr && IsConstant(node.inputs[0])) {
    turned = {static_cast<int64_t>(MadeOnce::kPermuted), node.inputs[0]};
    turned.insert(turned.end(), transpose->permutation.dims().begin(), transpose->permutation.dims().end());
    if (const auto known = made_once_.find(turned); known != made_once_.end() && !is_kept) {
      graph_.value(node.outputs[0]).constant = graph_.value(known->second[0]).constant;
      return;
    }
  }
  if (!is_kept && SharesBytes(graph_, node, budget_)) {
    if (!turned.empty()) made_once_.emplace(turned, node.outputs);
    return;
  }
  if (IsRecurrent(node.op)) {
    if (IsEmpty(node.outputs[0])) return SkipSequence(graph_, node);
  } else if (!is_kept || HasEmptyTensor(graph_, node)) {
    ConstantResults results = ResultsOf(graph_, node, budget_);
    for (size_t k = 0; k < results.size(); ++k) {
      const ValueId made = node.outputs[k];
      if (!is_kept || results[k].empty()) {
        graph_.MakeConstant(made, std::move(results[k]));
        continue;
      }
      std::string name = fmt::format("made_{}", graph_.values().size());
      const ValueId constant = graph_.AddConstantValue(std::move(name), desc(made), std::move(results[k]));
      graph_.AddNode({Unary{.kind = UnaryKind::kCopy}, {constant}, {made}, "", node.source_index});
    }
    if (!results.empty()) return;
  }
  DropEmptyParts(graph_, node);
  graph_.AddNode(std::move(node));
}

}  // namespace hearth
