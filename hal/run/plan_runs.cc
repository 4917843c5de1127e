#include "hal/run/plan_runs.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/base/error.h"
#include "core/graph/evaluate.h"
#include "hal/device/stopwatch.h"

namespace hearth {
namespace {

Status CheckIsMemory(std::span<const std::byte> memory, const std::string& name) {
  if (memory.data() != nullptr || memory.empty()) return Status::Ok();
  return Error(StatusCode::kInvalidArgument, "the memory for '{}' is a null pointer", name);
}

}  // namespace

PlanRuns::PlanRuns(LoadedPlan& plan)
    : plan_(plan),
      programs_(plan.device(), plan.request().store, plan.request().CompileThreads()),
      edges_(plan, programs_),
      slots_(plan.device(), edges_, programs_),
      device_(plan, programs_, slots_),
      host_(plan, device_),
      slicing_(plan) {}

Result<std::unique_ptr<PlanRuns>> PlanRuns::Create(LoadedPlan& plan) {
  std::unique_ptr<PlanRuns> runs(new PlanRuns(plan));
  Status ready = runs->device_.Cut(1);
  if (ready.ok()) ready = runs->ResetState();
  if (ready.ok()) return runs;
  if (!plan.request().stop.stop_requested()) runs->RejectLoaded(ready.message());
  return ready;
}

Status PlanRuns::CheckSizes(std::span<const std::span<const std::byte>> inputs,
                            std::span<const std::span<std::byte>> outputs) const {
  const Plan& plan = plan_.plan();
  if (inputs.size() != plan.inputs.size() || outputs.size() != plan.outputs.size()) {
    return Error(StatusCode::kInvalidArgument, "the model has {} inputs and {} outputs; {} and {} were given",
                 plan.inputs.size(), plan.outputs.size(), inputs.size(), outputs.size());
  }
  for (size_t k = 0; k < inputs.size(); ++k) {
    if (inputs[k].size() != plan.inputs[k].desc.size_bytes()) {
      return Error(StatusCode::kInvalidArgument, "input '{}' takes {} bytes, {} were given", plan.inputs[k].name,
                   plan.inputs[k].desc.size_bytes(), inputs[k].size());
    }
    HEARTH_TRY(CheckIsMemory(inputs[k], plan.inputs[k].name));
  }
  for (size_t k = 0; k < outputs.size(); ++k) {
    if (outputs[k].size() != plan.outputs[k].desc.size_bytes()) {
      return Error(StatusCode::kInvalidArgument, "output '{}' has {} bytes, but room for {} was given",
                   plan.outputs[k].name, plan.outputs[k].desc.size_bytes(), outputs[k].size());
    }
    HEARTH_TRY(CheckIsMemory(outputs[k], plan.outputs[k].name));
  }
  return Status::Ok();
}

bool PlanRuns::IsOnDeviceOnly(Side side, size_t index) const {
  const Plan& plan = plan_.plan();
  const PlanTensor& tensor = side == Side::kInput ? plan.inputs[index] : plan.outputs[index];
  return tensor.on_device && tensor.host.kind == HostPlace::Kind::kNone;
}

Status PlanRuns::Bind(Side side, size_t index, const Endpoint& endpoint) {
  const Plan& plan = plan_.plan();
  const std::vector<PlanTensor>& tensors = side == Side::kInput ? plan.inputs : plan.outputs;
  HEARTH_CHECK(index < tensors.size());
  const auto* const borrowed = std::get_if<BorrowedMemory>(&endpoint);
  const bool is_given = std::holds_alternative<GivenBytes>(endpoint) ||
                        (borrowed != nullptr && borrowed->binding.memory == MemoryKind::kHost);
  if (!is_given && !IsOnDeviceOnly(side, index)) {
    return Error(StatusCode::kUnsupported, "{} '{}' is {} by the CPU, which takes {}host memory",
                 side == Side::kInput ? "input" : "output", tensors[index].name, side == Side::kInput ? "read" : "made",
                 borrowed != nullptr ? "" : "frames in ");
  }
  if (!tensors[index].on_device) return Status::Ok();
  Result<PlanEdges::Change> change = edges_.Bind(side, index, endpoint);
  const Status status = change.status().Within("'" + tensors[index].name + "'");
  if (!status.ok() && std::holds_alternative<HostFrame>(endpoint)) change = edges_.Bind(side, index, GivenBytes());
  if (!change.ok()) return status;
  if (change->alone) device_.MakeWholeStale();
  slots_.Apply(std::move(change).value());
  return status;
}

Status PlanRuns::RunSegments(SegmentRun& run) {
  const std::vector<Segment>& segments = plan_.plan().segments;
  for (size_t k = 0; k < segments.size(); ++k)
    HEARTH_TRY(segments[k].executor == Executor::kCpu ? host_.Run(k, run) : device_.Run(k, run));
  return Status::Ok();
}

Status PlanRuns::SubmitAll(SlotId slot, SegmentRun& run, const SubmitSync& sync) {
  const bool is_alone = slot.kind == SlotKind::kAlone;
  if (is_alone) {
    HEARTH_TRY(device_.Wait());
    HEARTH_TRY(device_.RenewWhole());
  }
  const bool is_whole = is_alone && device_.has_whole() && run.profile == nullptr;
  HEARTH_TRY(slots_.Begin(slot, run.inputs, sync.wait_for, is_whole));
  if (run.profile != nullptr || plan_.plan().runs_on_cpu()) HEARTH_TRY(slots_.WaitForBegin(slot));
  device_.Begin();
  HEARTH_TRY(is_whole ? device_.RunWhole() : RunSegments(run));
  HEARTH_TRY(host_.Finish(run));
  return slots_.End(slot, sync.signal, sync.fence);
}

Status PlanRuns::Submit(SlotId slot, std::span<const std::span<const std::byte>> inputs,
                        std::span<const std::span<std::byte>> outputs, const RunOptions& options) {
  HEARTH_TRY(CheckSizes(inputs, outputs));
  slicing_.Begin(slot, options.profile == nullptr && options.sync.wait_for.empty());
  TransferCounts by_segments;
  SegmentRun run{inputs, outputs, options.profile, options.control, by_segments};
  const Status status = SubmitAll(slot, run, options.sync);
  if (!status.ok()) {
    slicing_.Failed();
    slots_.Abandon(slot);
    return status;
  }
  TransferCounts& counts = slots_.transfers(slot);
  counts.to_device_bytes += by_segments.to_device_bytes;
  counts.to_host_bytes += by_segments.to_host_bytes;
  slicing_.Submitted(run.host_ms);
  return Status::Ok();
}

Status PlanRuns::Finish(SlotId slot, std::span<const std::span<std::byte>> outputs) {
  const Stopwatch watch;
  const Status submitted = slot.kind == SlotKind::kAlone ? device_.Wait() : Status::Ok();
  if (!submitted.ok()) {
    slicing_.Finished(slot, 0, false);
    slots_.Abandon(slot);
    return submitted;
  }
  const Status status = slots_.Finish(slot, outputs);
  transfers_ = slots_.transfers(slot);
  // After an error the slices stay as they are.
  if (slicing_.Finished(slot, watch.milliseconds(), status.ok())) static_cast<void>(device_.Cut(slicing_.correction()));
  return status;
}

Status PlanRuns::Run(std::span<const std::span<const std::byte>> inputs, std::span<const std::span<std::byte>> outputs,
                     const RunOptions& options) {
  HEARTH_TRY(Submit({}, inputs, outputs, options));
  return Finish({}, outputs);
}

Status PlanRuns::RunDispatches() {
  device_.Begin();
  TransferCounts not_of_a_run;
  SegmentRun run{{}, {}, nullptr, nullptr, not_of_a_run};
  HEARTH_TRY(RunSegments(run));
  return device_.Wait();
}

Status PlanRuns::ResetState() {
  HEARTH_TRY(device_.Wait());
  for (const PlanState& state : plan_.plan().states) {
    if (!state.on_device) {
      HEARTH_ASSIGN(host_.StateAt(state), BytesOfZeros(state.desc));
      continue;
    }
    const BoundRange range = plan_.Located(state.transfer.range);
    HEARTH_TRY(
        plan_.device().Write(*range.buffer, range.offset_bytes, range.size_bytes, [](std::span<std::byte> memory) {
          std::memset(memory.data(), 0, memory.size());
          return Status::Ok();
        }));
  }
  return Status::Ok();
}

Result<std::vector<StateContent>> PlanRuns::ReadStates() {
  HEARTH_TRY(device_.Wait());
  TransferCounts not_of_a_run;
  std::vector<StateContent> contents;
  for (const PlanState& state : plan_.plan().states) {
    StateContent& content = contents.emplace_back(StateContent{state.name, {}});
    if (!state.on_device) {
      content.bytes = host_.StateAt(state);
      continue;
    }
    content.bytes.resize(state.desc.size_bytes());
    HEARTH_TRY(
        FromDevice(plan_.device(), plan_.Located(state.transfer.range), state.transfer, content.bytes, not_of_a_run));
  }
  return contents;
}

Status PlanRuns::WriteStates(std::span<const StateContent> contents) {
  HEARTH_TRY(device_.Wait());
  TransferCounts not_of_a_run;
  for (const PlanState& state : plan_.plan().states) {
    const auto content = std::ranges::find(contents, state.name, &StateContent::name);
    if (content == contents.end() || content->bytes.size() != state.desc.size_bytes()) continue;
    if (!state.on_device) {
      host_.StateAt(state) = content->bytes;
      continue;
    }
    HEARTH_TRY(
        ToDevice(plan_.device(), plan_.Located(state.transfer.range), state.transfer, content->bytes, not_of_a_run));
  }
  return Status::Ok();
}

bool PlanRuns::RejectLoaded(std::string_view reason) {
  const bool has_more = programs_.RejectLoaded(reason);
  return plan_.RejectLoaded(reason) || has_more;
}

std::vector<std::string> PlanRuns::Store(bool plan_is_new) {
  std::vector<std::string> warnings = plan_.Store(plan_is_new);
  const std::vector<std::string> more = StoreMore();
  warnings.insert(warnings.end(), more.begin(), more.end());
  return warnings;
}

Result<ReadyPlan> MakePlanReady(Plan plan, LoadRequest request) {
  ReadyPlan ready;
  HEARTH_ASSIGN(ready.loaded, LoadedPlan::Load(std::move(plan), std::move(request)));
  HEARTH_ASSIGN(ready.runs, PlanRuns::Create(*ready.loaded));
  return ready;
}

}  // namespace hearth
