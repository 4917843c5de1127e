// The last stage of planning: memory for every value, constant and state, and the transfers to the host.
#include <algorithm>
#include <set>

#include "core/base/contains.h"
#include "core/base/error.h"
#include "core/base/numbers.h"
#include "core/plan/offset_search.h"
#include "core/plan/plan_builder.h"
#include "core/plan/storage.h"

namespace hearth {
namespace {

uint64_t LargestBytes(const std::vector<TensorUsage>& usages) {
  uint64_t largest = 0;
  for (const TensorUsage& usage : usages) largest = std::max(largest, usage.size_bytes);
  return largest;
}

}  // namespace

uint64_t PlanBuilder::PlacedBytes(uint64_t size_bytes) const {
  return size_bytes + (read_path_ == AccessPath::kTexelBuffer ? TexelViewRoomBytes(size_bytes) : 0);
}

std::map<ValueId, PlanBuilder::Lifetime> PlanBuilder::Lifetimes() const {
  std::map<ValueId, Lifetime> lifetimes;
  const auto touch = [&](ValueId value, int step) {
    if (value == kNoValue || !OnDevice(value) || graph_.IsState(Root(value))) return;
    const auto [at, is_new] = lifetimes.try_emplace(Root(value), Lifetime{step, step});
    if (!is_new) at->second.last = step;
  };
  // Step 0 is the upload of the inputs, the last one the download of the outputs.
  for (ValueId input : graph_.inputs) touch(input, 0);
  int step = 0;
  for (const auto& pending : pending_) {
    ++step;
    if (const auto* dispatch = std::get_if<PendingDispatch>(&pending)) {
      for (const Operand& operand : dispatch->operands) {
        if (operand.kind == Operand::Kind::kValue) touch(operand.id, step);
      }
    } else {
      for (int index : std::get<PendingHost>(pending).nodes) {
        for (ValueId value : graph_.nodes()[index].inputs) touch(value, step);
        for (ValueId value : graph_.nodes()[index].outputs) touch(value, step);
      }
    }
  }
  for (ValueId output : graph_.outputs) touch(output, step + 1);
  for (const StatePair& state : graph_.states) touch(state.written, step + 1);  // the host may read it
  return lifetimes;
}

Status PlanBuilder::PlaceArena(Plan& plan, std::map<ValueId, BufferRange>& ranges) const {
  const std::map<ValueId, Lifetime> lifetimes = Lifetimes();
  std::vector<ValueId> values;
  std::vector<TensorUsage> usages;
  for (const auto& [value, lifetime] : lifetimes) {
    values.push_back(value);
    usages.push_back({ValueBytes(value), lifetime.first, lifetime.last});
  }
  plan.memory.naive_bytes = NaiveBytes(usages);
  plan.memory.lower_bound_bytes = LowerBoundBytes(usages);
  // A tensor that does not fit into the largest buffer goes to another one; most devices need only one.
  while (!values.empty()) {
    std::vector<TensorUsage> placed = usages;
    for (TensorUsage& usage : placed) usage.size_bytes = PlacedBytes(usage.size_bytes);
    const OffsetPlan offsets = SearchOffsets(placed, device_.buffer_offset_alignment);
    const auto arena = static_cast<uint32_t>(plan.buffers.size());
    BufferSpec buffer{BufferRole::kArena, 0};
    std::vector<ValueId> left;
    std::vector<TensorUsage> left_usages;
    for (size_t k = 0; k < values.size(); ++k) {
      const uint64_t end_bytes = offsets.offsets[k] + placed[k].size_bytes;
      if (end_bytes <= device_.max_buffer_bytes) {
        ranges[values[k]] = {arena, offsets.offsets[k], usages[k].size_bytes};
        buffer.size_bytes = std::max(buffer.size_bytes, end_bytes);
      } else {
        left.push_back(values[k]);
        left_usages.push_back(usages[k]);
      }
    }
    if (left.size() == values.size()) {
      return Error(StatusCode::kResourceExhausted, "a tensor of {} bytes is larger than a buffer of {}, {} bytes",
                   LargestBytes(left_usages), device_.name, device_.max_buffer_bytes);
    }
    plan.buffers.push_back(buffer);
    plan.memory.arena_bytes += buffer.size_bytes;
    values = std::move(left);
    usages = std::move(left_usages);
  }
  return Status::Ok();
}

Status PlanBuilder::PlaceStates(Plan& plan, std::map<ValueId, BufferRange>& ranges) const {
  const auto buffer = static_cast<uint32_t>(plan.buffers.size());
  uint64_t end_bytes = 0;
  for (const StatePair& state : graph_.states) {
    if (!OnDevice(state.read)) continue;
    const uint64_t offset_bytes = RoundUp(end_bytes, device_.buffer_offset_alignment);
    ranges[state.read] = {buffer, offset_bytes, ValueBytes(state.read)};
    end_bytes = offset_bytes + PlacedBytes(ValueBytes(state.read));
  }
  if (end_bytes == 0) return Status::Ok();
  if (end_bytes > device_.max_buffer_bytes) {
    return Error(StatusCode::kResourceExhausted, "the network's state needs {} bytes, one buffer of {} takes {}",
                 end_bytes, device_.name, device_.max_buffer_bytes);
  }
  plan.buffers.push_back({BufferRole::kState, end_bytes});
  plan.memory.state_bytes = end_bytes;
  return Status::Ok();
}

Status PlanBuilder::PlaceConstants(Plan& plan) const {
  for (PlanConstant& constant : plan.constants) {
    const uint64_t size = constant.range.size_bytes;
    if (size > device_.max_buffer_bytes) {
      return Error(StatusCode::kResourceExhausted, "a constant needs {} bytes, one buffer of {} takes {}", size,
                   device_.name, device_.max_buffer_bytes);
    }
    const bool fits = !plan.buffers.empty() && plan.buffers.back().role == BufferRole::kConstants &&
                      RoundUp(plan.buffers.back().size_bytes, device_.buffer_offset_alignment) + PlacedBytes(size) <=
                          device_.max_buffer_bytes;
    if (!fits) plan.buffers.push_back({BufferRole::kConstants, 0});
    BufferSpec& buffer = plan.buffers.back();
    constant.range.buffer = static_cast<uint32_t>(plan.buffers.size() - 1);
    constant.range.offset_bytes = RoundUp(buffer.size_bytes, device_.buffer_offset_alignment);
    buffer.size_bytes = std::min(constant.range.offset_bytes + PlacedBytes(size), device_.max_buffer_bytes);
    plan.memory.weights_bytes += size;
  }
  return Status::Ok();
}

HostTransfer PlanBuilder::TransferOf(ValueId value, const std::map<ValueId, BufferRange>& ranges) const {
  return {value, graph_.value(value).desc, StorageOf(value), RangeOf(value, ranges)};
}

HostStep PlanBuilder::FinishHostStep(const PendingHost& pending, const std::map<ValueId, BufferRange>& ranges) const {
  HostStep step;
  step.nodes = pending.nodes;
  std::set<ValueId> made;
  for (int index : pending.nodes) {
    const Node& node = graph_.nodes()[index];
    made.insert(node.outputs.begin(), node.outputs.end());
  }
  std::set<ValueId> read;
  for (int index : pending.nodes) {
    for (ValueId value : graph_.nodes()[index].inputs) {
      const bool from_device = value != kNoValue && !graph_.IsConstant(value) && !made.contains(value) &&
                               OnDevice(value) && !Contains(graph_.inputs, value);
      if (from_device && read.insert(value).second) step.reads.push_back(TransferOf(value, ranges));
    }
  }
  for (ValueId value : made) {
    if (OnDevice(value)) step.writes.push_back(TransferOf(value, ranges));
  }
  return step;
}

std::vector<PlanState> PlanBuilder::FinishStates(const std::map<ValueId, BufferRange>& ranges) const {
  std::vector<PlanState> states;
  for (const StatePair& pair : graph_.states) {
    if (!OnDevice(pair.read) && reads_[pair.read] == 0) continue;
    PlanState state{graph_.value(pair.read).name, graph_.value(pair.read).desc, OnDevice(pair.read), {}, false, {}};
    if (state.on_device) state.transfer = TransferOf(pair.read, ranges);
    state.next_on_device = !state.on_device && OnDevice(pair.written);
    if (state.next_on_device) state.next = TransferOf(pair.written, ranges);
    state.transfer.value = pair.read;
    state.next.value = pair.written;
    states.push_back(std::move(state));
  }
  return states;
}

Result<Plan> PlanBuilder::Finish() {
  for (ValueId output : graph_.outputs) MakeDeferred(output);
  for (const StatePair& state : graph_.states) MakeDeferred(state.written);  // before one that others read changes
  HEARTH_TRY(CopyStates());
  std::map<ValueId, BufferRange> ranges;
  HEARTH_TRY(PlaceArena(plan_, ranges));
  HEARTH_TRY(PlaceStates(plan_, ranges));
  HEARTH_TRY(PlaceConstants(plan_));
  for (size_t k = 0; k < pending_.size(); ++k) {
    if (auto* pending = std::get_if<PendingDispatch>(&pending_[k])) {
      for (const Operand& operand : pending->operands) {
        pending->dispatch.tensors.push_back(operand.kind == Operand::Kind::kValue ? RangeOf(operand.id, ranges)
                                                                                  : plan_.constants[operand.id].range);
      }
      pending->dispatch.kernel = KernelIndex(std::move(pending->source));
      plan_.steps.emplace_back(std::move(pending->dispatch));
    } else {
      plan_.steps.emplace_back(FinishHostStep(std::get<PendingHost>(pending_[k]), ranges));
    }
  }
  const auto plan_tensor = [&](ValueId value) {
    PlanTensor tensor{graph_.value(value).name, graph_.value(value).desc, ranges.contains(Root(value)), {}};
    if (tensor.on_device) tensor.transfer = TransferOf(value, ranges);
    tensor.transfer.value = value;
    return tensor;
  };
  for (ValueId value : graph_.inputs) plan_.inputs.push_back(plan_tensor(value));
  for (ValueId value : graph_.outputs) plan_.outputs.push_back(plan_tensor(value));
  plan_.states = FinishStates(ranges);
  return std::move(plan_);
}

}  // namespace hearth
