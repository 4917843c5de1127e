// Counts the iterations of a loop whose end does not depend on data, to know in advance whether it can be written out.
#include <algorithm>

#include "core/base/error.h"
#include "core/graph/element.h"
#include "core/graph/evaluate.h"
#include "frontends/writer/graph_writer.h"

namespace hearth {
namespace {

constexpr int64_t kMostElements = 256;  // of a value that decides the end
constexpr size_t kMostNodes = 64;       // nodes per iteration that decide the end

// The nodes of a graph that compute some of its outputs.
class PartSlice {
 public:
  PartSlice(const Graph& graph, std::vector<bool> wanted) : graph_(graph), wanted_(std::move(wanted)) {
    std::vector<bool> is_read(graph.values().size());
    for (size_t k = 0; k < wanted_.size(); ++k) {
      if (wanted_[k]) is_read[graph.outputs[k]] = true;
    }
    for (auto node = graph.nodes().rbegin(); node != graph.nodes().rend(); ++node) {
      if (std::ranges::none_of(node->outputs, [&](ValueId id) { return is_read[id]; })) continue;
      nodes_.push_back(&*node);
      for (const ValueId id : node->inputs) {
        if (id != kNoValue) is_read[id] = true;
      }
    }
    std::ranges::reverse(nodes_);
    for (const ValueId id : graph.inputs) reads_.push_back(is_read[id]);
  }

  // The graph's inputs that these nodes read.
  const std::vector<bool>& reads() const { return reads_; }

  size_t size() const { return nodes_.size(); }

  bool IsSmall() const {
    return nodes_.size() <= kMostNodes && std::ranges::all_of(nodes_, [&](const Node* node) {
             return !std::holds_alternative<Loop>(node->op) && !OpDefOf(node->op).Has(kCostly) &&
                    AreSmall(node->inputs) && AreSmall(node->outputs);
           });
  }

  // Computes the wanted outputs. Precondition: the inputs that are read are known.
  Result<KnownValues> Run(KnownValues inputs) {
    tensors_.resize(graph_.values().size());
    for (size_t k = 0; k < inputs.size(); ++k) tensors_[graph_.inputs[k]] = std::move(inputs[k]);
    for (const Node* node : nodes_) HEARTH_TRY(RunNode(*node));
    KnownValues made(wanted_.size());
    for (size_t k = 0; k < wanted_.size(); ++k) {
      if (wanted_[k]) made[k] = tensors_[graph_.outputs[k]];
    }
    return made;
  }

 private:
  bool AreSmall(const std::vector<ValueId>& ids) const {
    return std::ranges::all_of(ids, [&](ValueId id) {
      return id == kNoValue ||
             CheckedElementCount(graph_.value(id).desc.shape).value_or(kMostElements + 1) <= kMostElements;
    });
  }

  Status RunNode(const Node& node) {
    std::vector<const ReferenceTensor*> operands;
    for (const ValueId id : node.inputs) {
      if (graph_.IsConstant(id) && !tensors_[id]) {
        HEARTH_ASSIGN(tensors_[id], ReferenceFromBytes(graph_.value(id).desc, graph_.ReadConstant(id).bytes));
      }
      operands.push_back(id == kNoValue ? nullptr : &*tensors_[id]);
    }
    HEARTH_ASSIGN(std::vector<ReferenceTensor> made, EvaluateNode(graph_, node, operands));
    for (size_t k = 0; k < made.size(); ++k) tensors_[node.outputs[k]] = std::move(made[k]);
    return Status::Ok();
  }

  const Graph& graph_;
  std::vector<bool> wanted_;  // by output
  std::vector<const Node*> nodes_;
  std::vector<bool> reads_;  // by input
  KnownValues tensors_;      // by value
};

// Adds the values on which the values that decide the end depend.
std::vector<bool> WhatDecides(const Graph& body, std::vector<bool> decides) {
  while (true) {
    const std::vector<bool> before = decides;
    const PartSlice slice(body, before);
    for (size_t k = 0; k < decides.size(); ++k) decides[k] = decides[k] || slice.reads()[k];
    if (decides == before) return decides;
  }
}

}  // namespace

std::optional<int64_t> CountIterations(const LoopGraphs& loop, KnownValues values, int64_t most, int64_t& work_left) {
  if (loop.condition.outputs.size() != 1 || loop.body.outputs.size() != values.size()) return std::nullopt;
  PartSlice condition(loop.condition, {true});
  const std::vector<bool> decides = WhatDecides(loop.body, condition.reads());
  PartSlice body(loop.body, decides);
  if (!condition.IsSmall() || !body.IsSmall()) return std::nullopt;
  for (size_t k = 0; k < values.size(); ++k) {
    if (!decides[k]) {
      values[k].reset();
    } else if (!values[k]) {
      return std::nullopt;
    }
  }
  for (int64_t turn = 0; turn < most; ++turn) {
    work_left -= static_cast<int64_t>(condition.size() + body.size());
    if (work_left < 0) return std::nullopt;
    const Result<KnownValues> goes_on = condition.Run(values);
    if (!goes_on.ok()) return std::nullopt;
    const std::vector<double>& now = (*goes_on)[0]->values;
    if (now.size() != 1) return std::nullopt;
    if (now[0] == 0.0) return turn;
    Result<KnownValues> next = body.Run(std::move(values));
    if (!next.ok()) return std::nullopt;
    values = std::move(next).value();
  }
  return most;
}

}  // namespace hearth
