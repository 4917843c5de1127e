#include "core/plan/plan_layout.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "core/base/contains.h"
#include "core/base/error.h"
#include "core/base/numbers.h"
#include "core/graph/graph.h"
#include "core/plan/offset_search.h"
#include "core/plan/plan.h"

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

// Sets the places in a plan of `graph` that has its segments, inputs, outputs and states, and plan.host_bytes. Inputs
// are read where the caller's lie, and outputs that the last segment makes on the CPU are written there.
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

uint64_t LargestBytes(const std::vector<TensorUsage>& usages) {
  uint64_t largest = 0;
  for (const TensorUsage& usage : usages) largest = std::max(largest, usage.size_bytes);
  return largest;
}

}  // namespace

ValueId ValuePlaces::Root(ValueId value) const {
  for (auto at = within_.find(value); at != within_.end(); at = within_.find(value)) value = at->second.of;
  return value;
}

uint64_t ValuePlaces::OffsetInRoot(ValueId value) const {
  uint64_t offset_bytes = 0;
  for (auto at = within_.find(value); at != within_.end(); at = within_.find(at->second.of))
    offset_bytes += at->second.offset_bytes;
  return offset_bytes;
}

std::map<ValueId, PlanLayout::Lifetime> PlanLayout::Lifetimes(std::span<const PlanStep> steps) const {
  const Graph& graph = values_.graph();
  std::map<ValueId, Lifetime> lifetimes;
  const auto touch = [&](ValueId value, int step) {
    if (value == kNoValue || !places_.OnDevice(value) || graph.IsState(places_.Root(value))) return;
    const auto [at, is_new] = lifetimes.try_emplace(places_.Root(value), Lifetime{step, step});
    if (!is_new) at->second.last = step;
  };
  // Step 0 is the upload of the inputs, the last one the download of the outputs.
  for (ValueId input : graph.inputs) touch(input, 0);
  int step = 0;
  for (const PlanStep& planned : steps) {
    ++step;
    if (const auto* dispatch = std::get_if<CallInstance>(&planned)) {
      for (const Operand& operand : dispatch->operands) {
        if (operand.kind == Operand::Kind::kValue) touch(operand.id, step);
      }
    } else {
      for (int index : std::get<std::vector<int>>(planned)) {
        for (ValueId value : graph.nodes()[index].inputs) touch(value, step);
        for (ValueId value : graph.nodes()[index].outputs) touch(value, step);
      }
    }
  }
  for (ValueId output : graph.outputs) touch(output, step + 1);
  for (const StatePair& state : graph.states) touch(state.written, step + 1);  // the host may read it
  return lifetimes;
}

Status PlanLayout::PlaceArena(std::span<const PlanStep> steps) {
  const DeviceInfo& device = values_.device();
  std::vector<ValueId> values;
  std::vector<TensorUsage> usages;
  for (const auto& [value, lifetime] : Lifetimes(steps)) {
    values.push_back(value);
    usages.push_back({values_.BytesOf(value), lifetime.first, lifetime.last});
  }
  plan_.memory.naive_bytes = NaiveBytes(usages);
  plan_.memory.lower_bound_bytes = LowerBoundBytes(usages);
  // A tensor that does not fit into the largest buffer goes to another one; most devices need only one.
  while (!values.empty()) {
    std::vector<TensorUsage> placed = usages;
    for (TensorUsage& usage : placed) usage.size_bytes = values_.PlacedBytes(usage.size_bytes);
    const OffsetPlan offsets = SearchOffsets(placed, device.buffer_offset_alignment);
    const auto arena = static_cast<uint32_t>(plan_.buffers.size());
    BufferSpec buffer{BufferRole::kArena, 0};
    std::vector<ValueId> left;
    std::vector<TensorUsage> left_usages;
    for (size_t k = 0; k < values.size(); ++k) {
      const uint64_t end_bytes = offsets.offsets[k] + placed[k].size_bytes;
      if (end_bytes <= device.max_buffer_bytes) {
        ranges_[values[k]] = {arena, offsets.offsets[k], usages[k].size_bytes};
        buffer.size_bytes = std::max(buffer.size_bytes, end_bytes);
      } else {
        left.push_back(values[k]);
        left_usages.push_back(usages[k]);
      }
    }
    if (left.size() == values.size()) {
      return Error(StatusCode::kResourceExhausted, "a tensor of {} bytes is larger than a buffer of {}, {} bytes",
                   LargestBytes(left_usages), device.name, device.max_buffer_bytes);
    }
    plan_.buffers.push_back(buffer);
    plan_.memory.arena_bytes += buffer.size_bytes;
    values = std::move(left);
    usages = std::move(left_usages);
  }
  return Status::Ok();
}

Status PlanLayout::PlaceStates() {
  const DeviceInfo& device = values_.device();
  const auto buffer = static_cast<uint32_t>(plan_.buffers.size());
  uint64_t end_bytes = 0;
  for (const StatePair& state : values_.graph().states) {
    if (!places_.OnDevice(state.read)) continue;
    const uint64_t offset_bytes = RoundUp(end_bytes, device.buffer_offset_alignment);
    ranges_[state.read] = {buffer, offset_bytes, values_.BytesOf(state.read)};
    end_bytes = offset_bytes + values_.PlacedBytes(values_.BytesOf(state.read));
  }
  if (end_bytes == 0) return Status::Ok();
  if (end_bytes > device.max_buffer_bytes) {
    return Error(StatusCode::kResourceExhausted, "the network's state needs {} bytes, one buffer of {} takes {}",
                 end_bytes, device.name, device.max_buffer_bytes);
  }
  plan_.buffers.push_back({BufferRole::kState, end_bytes});
  plan_.memory.state_bytes = end_bytes;
  return Status::Ok();
}

BufferRange PlanLayout::RangeOf(ValueId value) const {
  BufferRange range = ranges_.at(places_.Root(value));
  range.size_bytes = values_.BytesOf(value);
  range.offset_bytes += places_.OffsetInRoot(value);
  return range;
}

HostTransfer PlanLayout::TransferOf(ValueId value) const {
  return {value, values_.DescOf(value), values_.StorageOf(value), RangeOf(value)};
}

uint32_t PlanLayout::KernelIndex(KernelSource source) {
  const auto known = std::find(plan_.kernels.begin(), plan_.kernels.end(), source);
  if (known != plan_.kernels.end()) return static_cast<uint32_t>(known - plan_.kernels.begin());
  plan_.kernels.push_back(std::move(source));
  return static_cast<uint32_t>(plan_.kernels.size() - 1);
}

void PlanLayout::AddDispatch(CallInstance instance) {
  for (const Operand& operand : instance.operands) {
    instance.dispatch.tensors.push_back(operand.kind == Operand::Kind::kValue ? RangeOf(operand.id)
                                                                              : plan_.constants[operand.id].range);
  }
  instance.dispatch.kernel = KernelIndex(std::move(instance.source));
  if (plan_.segments.empty() || plan_.segments.back().executor != Executor::kDevice) {
    plan_.segments.emplace_back().first_dispatch = static_cast<uint32_t>(plan_.dispatches.size());
  }
  ++plan_.segments.back().dispatch_count;
  plan_.dispatches.push_back(std::move(instance.dispatch));
}

void PlanLayout::AddHostSegment(const std::vector<int>& nodes) {
  const Graph& graph = values_.graph();
  Segment segment;
  segment.executor = Executor::kCpu;
  segment.first_dispatch = static_cast<uint32_t>(plan_.dispatches.size());
  segment.nodes = nodes;
  const auto operand = [&](ValueId value, bool crosses) {
    return SegmentOperand{{}, crosses, crosses ? TransferOf(value) : HostTransfer{value, values_.DescOf(value)}};
  };
  std::map<ValueId, int> made;  // how often the segment itself reads each
  for (int index : nodes) {
    for (ValueId value : graph.nodes()[index].outputs) made.emplace(value, 0);
  }
  std::set<ValueId> read;
  for (int index : nodes) {
    for (ValueId value : graph.nodes()[index].inputs) {
      if (value == kNoValue || graph.IsConstant(value)) continue;
      if (const auto own = made.find(value); own != made.end()) {
        ++own->second;
      } else if (read.insert(value).second) {
        segment.reads.push_back(operand(value, places_.OnDevice(value) && !Contains(graph.inputs, value)));
      }
    }
  }
  for (int index : nodes) {
    for (ValueId value : graph.nodes()[index].outputs) {
      const bool is_used_elsewhere = made.at(value) != values_.ReadCount(value) || graph.IsKept(value);
      if (is_used_elsewhere) segment.writes.push_back(operand(value, places_.OnDevice(value)));
    }
  }
  plan_.segments.push_back(std::move(segment));
}

void PlanLayout::AddStates() {
  const Graph& graph = values_.graph();
  for (const StatePair& pair : graph.states) {
    if (!places_.OnDevice(pair.read) && values_.ReadCount(pair.read) == 0) continue;
    PlanState state{graph.value(pair.read).name, graph.value(pair.read).desc, places_.OnDevice(pair.read)};
    if (state.on_device) state.transfer = TransferOf(pair.read);
    state.next_on_device = !state.on_device && places_.OnDevice(pair.written);
    if (state.next_on_device) state.next = TransferOf(pair.written);
    state.transfer.value = pair.read;
    state.next.value = pair.written;
    plan_.states.push_back(std::move(state));
  }
}

PlanTensor PlanLayout::TensorOf(ValueId value) const {
  const Value& of_graph = values_.graph().value(value);
  PlanTensor tensor{of_graph.name, of_graph.desc, ranges_.contains(places_.Root(value))};
  if (tensor.on_device) tensor.transfer = TransferOf(value);
  tensor.transfer.value = value;
  return tensor;
}

Result<Plan> PlanLayout::Finish(std::vector<PlanStep> steps) {
  HEARTH_TRY(PlaceArena(steps));
  HEARTH_TRY(PlaceStates());
  HEARTH_TRY(constants_.PlaceIn(plan_));
  for (PlanStep& step : steps) {
    if (auto* instance = std::get_if<CallInstance>(&step)) {
      AddDispatch(std::move(*instance));
    } else {
      AddHostSegment(std::get<std::vector<int>>(step));
    }
  }
  const Graph& graph = values_.graph();
  for (ValueId value : graph.inputs) plan_.inputs.push_back(TensorOf(value));
  for (ValueId value : graph.outputs) plan_.outputs.push_back(TensorOf(value));
  AddStates();
  PlaceHostValues(graph, plan_);
  return std::move(plan_);
}

}  // namespace hearth
