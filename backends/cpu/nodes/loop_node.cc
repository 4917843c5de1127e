// A loop whose end depends on data. Its condition and body are programs of their own, prepared once.
#include <algorithm>
#include <array>
#include <numeric>

#include "backends/cpu/host/host_node.h"
#include "backends/cpu/host/quantized.h"
#include "core/base/error.h"
#include "core/graph/loop_graphs.h"
#include "core/plan/host_executor.h"

namespace hearth {
namespace {

// The loop's values in the model's types.
using Values = std::vector<std::vector<std::byte>>;

class LoopNode final : public HostNode {
 public:
  LoopNode(const HostNodeRequest& request, std::unique_ptr<HostProgram> condition, std::unique_ptr<HostProgram> body)
      : graph_(request.graph),
        node_(request.node),
        arena_(request.arena),
        graphs_(*std::get<Loop>(node_.op).graphs),
        condition_(std::move(condition)),
        body_(std::move(body)) {
    for (Values& values : values_) {
      for (const ValueId input : node_.inputs) values.emplace_back(DescOf(input).size_bytes());
    }
    for (size_t now = 0; now < 2; ++now) {
      AddTensors(graphs_.condition.inputs, values_[now], condition_tensors_[now]);
      condition_tensors_[now].push_back({graphs_.condition.outputs[0], std::span(&goes_on_, 1)});
      AddTensors(graphs_.body.inputs, values_[now], body_tensors_[now]);
      AddTensors(graphs_.body.outputs, values_[1 - now], body_tensors_[now]);
    }
  }

  std::string_view kernel() const override { return "loop"; }
  std::optional<uint64_t> held_bytes() const override { return OwnBytes(*condition_) + OwnBytes(*body_); }

  Status Run(RunControl* control) override {
    for (size_t k = 0; k < node_.inputs.size(); ++k) Load(node_.inputs[k], values_[0][k]);
    size_t now = 0;
    const bool is_trial = control != nullptr && control->is_trial();
    for (int64_t iteration = 0;; ++iteration) {
      HEARTH_TRY(condition_->Run(condition_tensors_[now], {control}));
      if (goes_on_ == std::byte{0}) break;
      if (is_trial && iteration == RunControl::kTrialIterations) break;
      HEARTH_TRY(CheckIteration(node_, iteration, control));
      HEARTH_TRY(body_->Run(body_tensors_[now], {control}));
      now = 1 - now;
    }
    for (size_t k = 0; k < node_.outputs.size(); ++k) Store(values_[now][k], node_.outputs[k]);
    return Status::Ok();
  }

 private:
  const TensorDesc& DescOf(ValueId value) const { return graph_.value(value).desc; }

  // Weights that existed before, made for the other part or for nodes around the loop, are counted there.
  static uint64_t OwnBytes(const HostProgram& part) { return part.weights_bytes() - part.found_weights_bytes(); }

  static void AddTensors(const std::vector<ValueId>& ids, Values& values, std::vector<HostTensor>& tensors) {
    for (size_t k = 0; k < ids.size(); ++k) tensors.push_back({ids[k], values[k]});
  }

  void Load(ValueId value, std::span<std::byte> bytes) const {
    if (!graph_.IsConstant(value) && IsHeldAsFloats(DescOf(value))) {
      ToStored(DescOf(value), arena_.floats(value), bytes);
      return;
    }
    std::ranges::copy(graph_.IsConstant(value) ? graph_.ConstantBytes(value) : arena_.bytes(value), bytes.begin());
  }

  void Store(std::span<const std::byte> bytes, ValueId value) const {
    if (IsHeldAsFloats(DescOf(value))) {
      if (arena_.HasFloats(value)) ToFloats(DescOf(value), bytes, arena_.floats(value));
    } else if (const std::span<std::byte> target = arena_.bytes(value); !target.empty()) {
      std::ranges::copy(bytes, target.begin());
    }
  }

  const Graph& graph_;
  const Node& node_;
  const HostArena& arena_;
  const LoopGraphs& graphs_;
  std::unique_ptr<HostProgram> condition_, body_;
  std::array<Values, 2> values_;  // before an iteration and after it
  std::byte goes_on_{0};
  std::array<std::vector<HostTensor>, 2> condition_tensors_, body_tensors_;
};

Result<std::unique_ptr<HostProgram>> PrepareAll(const HostNodeRequest& request, const Graph& graph) {
  std::vector<int> nodes(graph.nodes().size());
  std::iota(nodes.begin(), nodes.end(), 0);
  return request.executor.Prepare(graph, nodes, graph.outputs, request.workers.threads());
}

}  // namespace

Result<std::unique_ptr<HostNode>> MakeLoopNode(const HostNodeRequest& request) {
  const auto* loop = std::get_if<Loop>(&request.node.op);
  if (loop == nullptr || loop->graphs == nullptr) return nullptr;
  HEARTH_ASSIGN(std::unique_ptr<HostProgram> condition, PrepareAll(request, loop->graphs->condition));
  HEARTH_ASSIGN(std::unique_ptr<HostProgram> body, PrepareAll(request, loop->graphs->body));
  for (const HostProgram* part : {condition.get(), body.get()}) {
    for (const std::span<const std::byte> bytes : part->read_in_place()) request.weights.ReadInPlace(bytes);
  }
  for (const ValueId value : request.node.inputs) {
    if (request.graph.IsConstant(value)) request.weights.ReadInPlace(request.graph.ConstantBytes(value));
  }
  return std::make_unique<LoopNode>(request, std::move(condition), std::move(body));
}

}  // namespace hearth
