#include "backends/cpu/host_arena.h"

#include <algorithm>
#include <set>

#include "backends/cpu/quantized.h"
#include "core/base/error.h"
#include "core/plan/offset_search.h"

namespace hearth {
namespace {

// Values that `nodes` read and that neither they nor the model's constants provide, each once.
std::vector<ValueId> ReadFromOutside(const Graph& graph, std::span<const int> nodes) {
  std::set<ValueId> known;
  std::vector<ValueId> outside;
  for (int index : nodes) {
    const Node& node = graph.nodes()[index];
    for (ValueId value : node.inputs) {
      if (value != kNoValue && !graph.IsConstant(value) && known.insert(value).second) outside.push_back(value);
    }
    known.insert(node.outputs.begin(), node.outputs.end());
  }
  return outside;
}

}  // namespace

Result<HostArena> HostArena::Create(const Graph& graph, std::span<const int> nodes, std::span<const ValueId> outputs) {
  HostArena arena;
  arena.inputs_ = ReadFromOutside(graph, nodes);
  arena.outputs_.assign(outputs.begin(), outputs.end());
  arena.PlanIntermediates(graph, nodes);
  HEARTH_TRY(arena.Allocate(graph));
  return arena;
}

void HostArena::PlanIntermediates(const Graph& graph, std::span<const int> nodes) {
  const std::set<ValueId> handed_out(outputs_.begin(), outputs_.end());
  std::vector<ValueId> values;
  std::vector<TensorUsage> usages;
  std::map<ValueId, size_t> usage_of;
  for (int step = 0; step < static_cast<int>(nodes.size()); ++step) {
    const Node& node = graph.nodes()[nodes[step]];
    for (ValueId value : node.inputs) {
      if (const auto usage = usage_of.find(value); usage != usage_of.end()) usages[usage->second].last_step = step;
    }
    for (ValueId value : node.outputs) {
      if (handed_out.contains(value)) continue;
      usage_of[value] = usages.size();
      values.push_back(value);
      usages.push_back({HeldAs(graph.value(value).desc).size_bytes(), step, step});
    }
  }
  const OffsetPlan plan = SearchOffsets(usages, kAlignmentBytes);
  for (size_t k = 0; k < values.size(); ++k) places_[values[k]] = {plan.offsets[k], usages[k].size_bytes};
  planned_bytes_ = plan.total_bytes;
  naive_bytes_ = NaiveBytes(usages);
  lower_bound_bytes_ = LowerBoundBytes(usages);
}

Status HostArena::Allocate(const Graph& graph) {
  uint64_t end_bytes = planned_bytes_;
  for (const std::vector<ValueId>* list : {&inputs_, &outputs_}) {
    for (ValueId value : *list) {
      const uint64_t offset_bytes = (end_bytes + kAlignmentBytes - 1) / kAlignmentBytes * kAlignmentBytes;
      const uint64_t size_bytes = HeldAs(graph.value(value).desc).size_bytes();
      if (places_.emplace(value, Place{offset_bytes, size_bytes}).second) end_bytes = offset_bytes + size_bytes;
    }
  }
  // Reads past the end of any value but the last fall into its neighbor, so one slack at the end is enough.
  const uint64_t total_bytes = end_bytes + kReadSlackBytes;
  memory_.reset(new (std::align_val_t{kAlignmentBytes}, std::nothrow) std::byte[total_bytes]);
  if (memory_ == nullptr) {
    return Error(StatusCode::kResourceExhausted,
                 "the network's values need {} bytes on the host, which has not that much memory", total_bytes);
  }
  std::fill_n(memory_.get() + end_bytes, kReadSlackBytes, std::byte{0});
  return Status::Ok();
}

std::span<std::byte> HostArena::bytes(ValueId value) const {
  const auto place = places_.find(value);
  if (place == places_.end()) return {};
  return {memory_.get() + place->second.offset_bytes, static_cast<size_t>(place->second.size_bytes)};
}

std::span<float> HostArena::floats(ValueId value) const {
  const std::span<std::byte> held = bytes(value);
  return {reinterpret_cast<float*>(held.data()), held.size() / sizeof(float)};
}

}  // namespace hearth
