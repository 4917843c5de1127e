#include "hal/run/host_segments.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/graph/op_text.h"
#include "hal/device/stopwatch.h"

namespace hearth {

using Kind = HostPlace::Kind;

HostSegments::HostSegments(const LoadedPlan& plan, DeviceSegments& device) : plan_(plan), device_(device) {
  for (const uint64_t size_bytes : plan.plan().host_bytes) values_.emplace_back(size_bytes);
}

std::span<const std::byte> HostSegments::Find(const HostPlace& place, ValueId value, const SegmentRun& run) const {
  switch (place.kind) {
    case Kind::kInput: return run.inputs[place.index];
    case Kind::kValue: return values_[place.index];
    case Kind::kConstant: return plan_.request().graph->ConstantBytes(value);
    case Kind::kOutput:
    case Kind::kNone: break;
  }
  return {};
}

std::span<std::byte> HostSegments::At(const HostPlace& place, const SegmentRun& run) {
  if (place.kind == Kind::kOutput) return run.outputs[place.index];
  if (place.kind == Kind::kValue) return values_[place.index];
  // A program writes only its outputs.
  const std::span<const std::byte> input = run.inputs[place.index];
  return {const_cast<std::byte*>(input.data()), input.size()};
}

Status HostSegments::Download(const HostTransfer& transfer, std::span<std::byte> dense, TransferCounts& counts) const {
  return FromDevice(plan_.device(), plan_.Located(transfer.range), transfer, dense, counts);
}

Status HostSegments::Run(size_t segment_index, SegmentRun& run) {
  // It reads what was submitted before, and overwrites memory that submitted work may still read.
  HEARTH_TRY(device_.Wait());
  const Stopwatch watch;
  const Segment& segment = plan_.plan().segments[segment_index];
  tensors_.clear();
  for (const SegmentOperand& read : segment.reads) {
    tensors_.push_back({read.transfer.value, At(read.place, run)});
    if (read.crosses) HEARTH_TRY(Download(read.transfer, tensors_.back().bytes, run.counts));
  }
  for (const SegmentOperand& write : segment.writes) tensors_.push_back({write.transfer.value, At(write.place, run)});
  std::vector<HostNodeTime> times;
  HEARTH_TRY(
      plan_.host_programs()[segment_index]->Run(tensors_, {run.control, run.profile != nullptr ? &times : nullptr}));
  for (size_t k = 0; k < segment.writes.size(); ++k) {
    const SegmentOperand& write = segment.writes[k];
    if (!write.crosses) continue;
    HEARTH_TRY(ToDevice(plan_.device(), plan_.Located(write.transfer.range), write.transfer,
                        tensors_[segment.reads.size() + k].bytes, run.counts));
  }
  const double all_ms = watch.milliseconds();
  run.host_ms += all_ms;
  if (run.profile != nullptr) NoteTimes(times, all_ms, *run.profile);
  return Status::Ok();
}

void HostSegments::NoteTimes(std::span<const HostNodeTime> times, double all_ms,
                             std::vector<ProfileRow>& profile) const {
  for (const HostNodeTime& time : times) {
    profile.push_back({NodeLabel(plan_.request().graph->nodes()[static_cast<size_t>(time.node)]),
                       fmt::format("cpu {}", time.kernel), time.milliseconds});
    all_ms -= time.milliseconds;
  }
  profile.push_back({fmt::format("values for {} nodes on the CPU", times.size()), "cpu copy", std::max(0.0, all_ms)});
}

Status HostSegments::AdvanceStates(SegmentRun& run) {
  bool has_waited = false;
  for (const PlanState& state : plan_.plan().states) {
    if (state.on_device) continue;
    if (!std::exchange(has_waited, true)) HEARTH_TRY(device_.Wait());
    std::vector<std::byte>& content = StateAt(state);
    if (state.next_on_device) {
      HEARTH_TRY(Download(state.next, content, run.counts));
      continue;
    }
    const std::span<const std::byte> next = Find(state.next_host, state.next.value, run);
    content.assign(next.begin(), next.end());
  }
  return Status::Ok();
}

Status HostSegments::Finish(SegmentRun& run) {
  HEARTH_TRY(AdvanceStates(run));
  const std::vector<PlanTensor>& outputs = plan_.plan().outputs;
  // Inputs that are also outputs go first, because the other outputs may overwrite their memory.
  for (const bool is_made : {false, true}) {
    for (size_t k = 0; k < outputs.size(); ++k) {
      const HostPlace& place = outputs[k].host;
      if (outputs[k].on_device || place.kind == Kind::kOutput || (place.kind == Kind::kValue) != is_made) continue;
      const std::span<const std::byte> bytes = Find(place, outputs[k].transfer.value, run);
      if (bytes.size() != run.outputs[k].size())
        return Error(StatusCode::kInternal, "no part of the plan makes output '{}'", outputs[k].name);
      std::copy(bytes.begin(), bytes.end(), run.outputs[k].begin());
    }
  }
  return Status::Ok();
}

std::span<std::byte> HostSegments::OutputMemory(size_t index) const {
  const PlanTensor& output = plan_.plan().outputs[index];
  if (output.host.kind != Kind::kOutput) return {};
  return plan_.host_programs().back()->OutputInPlace(output.transfer.value);
}

}  // namespace hearth
