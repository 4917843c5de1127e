#include "backends/cpu/host/host_arena.h"

#include <algorithm>
#include <set>

#include "backends/cpu/host/process_limits.h"
#include "backends/cpu/host/quantized.h"
#include "core/base/error.h"
#include "core/base/numbers.h"

namespace hearth {
namespace {

// Values that `nodes` read and that neither they nor the model's constants make, each once.
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

uint64_t BytesOf(const Graph& graph, ValueId value, bool as_floats) {
  const TensorDesc& desc = graph.value(value).desc;
  return as_floats ? HeldAs(desc).size_bytes() : desc.size_bytes();
}

}  // namespace

Result<HostArena> HostArena::Create(const Graph& graph, std::span<const int> nodes, std::span<const ValueId> outputs,
                                    const std::vector<bool>& in_integers, FoundOffsets& found) {
  HostArena arena;
  arena.inputs_ = ReadFromOutside(graph, nodes);
  arena.outputs_.assign(outputs.begin(), outputs.end());
  arena.PlanIntermediates(graph, nodes, in_integers, found);
  HEARTH_TRY(arena.Allocate(graph));
  return arena;
}

void HostArena::PlanIntermediates(const Graph& graph, std::span<const int> nodes, const std::vector<bool>& in_integers,
                                  FoundOffsets& found) {
  const std::set<ValueId> given(inputs_.begin(), inputs_.end()), handed_out(outputs_.begin(), outputs_.end());
  std::vector<Form> forms;
  std::vector<TensorUsage> usages;
  std::map<Form, size_t> usage_of;
  const auto form_at = [&](size_t step, ValueId value) {
    const bool has_two = IsHeldAsFloats(graph.value(value).desc);
    return Form{value, has_two && !(!in_integers.empty() && in_integers[step])};
  };
  const auto extend = [&](Form form, int step) {
    if (const auto usage = usage_of.find(form); usage != usage_of.end()) usages[usage->second].last_step = step;
  };
  const auto begin = [&](Form form, int step) {
    usage_of[form] = usages.size();
    forms.push_back(form);
    usages.push_back({BytesOf(graph, form.value, form.as_floats), step, step});
  };
  // The caller's inputs are copied and converted before the first node of each run.
  for (size_t k = 0; k < nodes.size(); ++k) {
    for (ValueId value : graph.nodes()[nodes[k]].inputs) {
      if (!given.contains(value)) continue;
      const Form form = form_at(k, value);
      if (!usage_of.contains(form)) begin(form, 0);
      extend(form, static_cast<int>(k));
    }
  }
  for (size_t k = 0; k < nodes.size(); ++k) {
    const Node& node = graph.nodes()[nodes[k]];
    const int step = static_cast<int>(k);
    for (ValueId value : node.inputs) {
      if (value == kNoValue || graph.IsConstant(value) || given.contains(value)) continue;
      const Form form = form_at(k, value), made{value, !form.as_floats};
      if (usage_of.contains(form) || output_forms_.contains(form)) {
        extend(form, step);
      } else {
        extend(made, step);
        conversions_.push_back({step, value, form.as_floats});
        begin(form, step);
      }
    }
    for (ValueId value : node.outputs) {
      const Form form = form_at(k, value);
      if (!form.as_floats) made_as_stored_.insert(value);
      if (handed_out.contains(value)) {
        output_forms_.insert(form);
      } else {
        begin(form, step);
      }
    }
  }
  const std::shared_ptr<const OffsetPlan> plan = found.Search(usages, kAlignmentBytes);
  for (size_t k = 0; k < forms.size(); ++k) places_[forms[k]] = {plan->offsets[k], usages[k].size_bytes};
  planned_bytes_ = plan->total_bytes;
  naive_bytes_ = NaiveBytes(usages);
  lower_bound_bytes_ = LowerBoundBytes(usages);
}

namespace {

Result<LargePageMemory> Allocated(uint64_t bytes) {
  HEARTH_TRY(CheckAvailableMemory(bytes, "the network's values"));
  LargePageMemory memory = AllocateInLargePages(bytes);
  if (memory != nullptr) return memory;
  return Error(StatusCode::kResourceExhausted,
               "the network's values need {} bytes of memory, which the host lacks; take a smaller shape or batch",
               bytes);
}

}  // namespace

Status HostArena::AllocateScratch() {
  if (scratch_bytes_ == 0) return Status::Ok();
  HEARTH_ASSIGN(scratch_, Allocated(scratch_bytes_));
  return Status::Ok();
}

Status HostArena::Allocate(const Graph& graph) {
  uint64_t end_bytes = planned_bytes_;
  for (const Form& form : output_forms_) {
    const uint64_t offset_bytes = RoundUp(end_bytes, kAlignmentBytes);
    const uint64_t size_bytes = BytesOf(graph, form.value, form.as_floats);
    if (places_.emplace(form, Place{offset_bytes, size_bytes}).second) end_bytes = offset_bytes + size_bytes;
  }
  // Reads past the end of a value fall into its neighbour, so one slack after the last value is enough.
  const uint64_t total_bytes = end_bytes + kReadSlackBytes;
  HEARTH_ASSIGN(memory_, Allocated(total_bytes));
  // The caller may read outputs before the first run.
  std::fill(memory_.get() + planned_bytes_, memory_.get() + total_bytes, std::byte{0});
  return Status::Ok();
}

std::span<std::byte> HostArena::Find(Form form) const {
  const auto place = places_.find(form);
  if (place == places_.end()) return {};
  return {memory_.get() + place->second.offset_bytes, static_cast<size_t>(place->second.size_bytes)};
}

std::span<std::byte> HostArena::bytes(ValueId value) const {
  const std::span<std::byte> as_floats = Find({value, true});
  return as_floats.empty() ? Find({value, false}) : as_floats;
}

std::span<std::byte> HostArena::stored(ValueId value) const {
  return Find({value, false});
}

std::span<float> HostArena::floats(ValueId value) const {
  const std::span<std::byte> held = bytes(value);
  return {reinterpret_cast<float*>(held.data()), held.size() / sizeof(float)};
}

}  // namespace hearth
