#include "core/plan/host_places.h"

#include <algorithm>
#include <map>
#include <set>

namespace hearth {
namespace {

using Kind = HostPlace::Kind;

// By value: outputs of the network that the last segment may write directly, because nothing else needs those values.
std::map<ValueId, HostPlace> OutputsMadeLast(const Graph& graph, const Plan& plan) {
  if (plan.segments.empty() || plan.segments.back().executor != Executor::kCpu) return {};
  const std::vector<int> producers = graph.Producers();
  std::set<ValueId> made, elsewhere;
  for (const SegmentOperand& write : plan.segments.back().writes)
    (write.crosses ? elsewhere : made).insert(write.transfer.value);
  for (const PlanState& state : plan.states) elsewhere.insert(state.next.value);
  std::map<ValueId, HostPlace> outputs;
  for (size_t k = 0; k < plan.outputs.size(); ++k) {
    const PlanTensor& output = plan.outputs[k];
    const ValueId value = output.transfer.value;
    // An input that is also an output is handed out after the last segment, which must not have overwritten it by then.
    if (!output.on_device && producers[value] < 0) return {};
    const bool is_second = !outputs.emplace(value, HostPlace{Kind::kOutput, static_cast<uint32_t>(k)}).second;
    if (is_second || output.on_device || !made.contains(value)) elsewhere.insert(value);
  }
  std::erase_if(outputs, [&](const auto& output) { return elsewhere.contains(output.first); });
  return outputs;
}

class Placer {
 public:
  Placer(const Graph& graph, Plan& plan) : graph_(graph), plan_(plan), places_(OutputsMadeLast(graph, plan)) {
    for (size_t k = 0; k < plan.inputs.size(); ++k)
      places_.emplace(plan.inputs[k].transfer.value, HostPlace{Kind::kInput, static_cast<uint32_t>(k)});
  }

  // The place of a value that the CPU reads or makes.
  HostPlace At(const HostTransfer& value) {
    const HostPlace next = {Kind::kValue, static_cast<uint32_t>(plan_.host_bytes.size())};
    const auto [place, is_new] = places_.emplace(value.value, next);
    if (is_new) plan_.host_bytes.push_back(value.desc.size_bytes());
    return place->second;
  }

  // The place of a value that may also be a constant, or have none.
  HostPlace Find(ValueId value) const {
    if (const auto place = places_.find(value); place != places_.end()) return place->second;
    return {graph_.IsConstant(value) ? Kind::kConstant : Kind::kNone};
  }

 private:
  const Graph& graph_;
  Plan& plan_;
  std::map<ValueId, HostPlace> places_;
};

}  // namespace

void PlaceHostValues(const Graph& graph, Plan& plan) {
  Placer placer(graph, plan);
  for (Segment& segment : plan.segments) {
    for (SegmentOperand& read : segment.reads) {
      read.place = placer.At(read.transfer);
      if (read.place.kind == Kind::kInput) plan.inputs[read.place.index].host = read.place;
    }
    for (SegmentOperand& write : segment.writes) write.place = placer.At(write.transfer);
  }
  for (PlanState& state : plan.states) {
    if (state.on_device) continue;
    state.host = placer.At(state.transfer);
    if (!state.next_on_device) state.next_host = placer.Find(state.next.value);
  }
  for (PlanTensor& output : plan.outputs) {
    if (!output.on_device) output.host = placer.Find(output.transfer.value);
  }
}

}  // namespace hearth
