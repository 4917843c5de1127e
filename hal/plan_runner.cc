#include "hal/plan_runner.h"

#include <algorithm>
#include <cstring>
#include <set>
#include <utility>

#include "core/base/error.h"
#include "core/base/threads.h"
#include "core/graph/evaluate.h"
#include "core/graph/op_text.h"
#include "hal/constant_upload.h"
#include "hal/stopping.h"
#include "hal/stopwatch.h"

namespace hearth {
PlanRunner::PlanRunner(Plan plan, const RunnerParts& parts) : plan_(std::move(plan)), parts_(parts) {}
PlanRunner::~PlanRunner() = default;

Result<std::unique_ptr<PlanRunner>> PlanRunner::Create(Plan plan, const RunnerParts& parts) {
  std::unique_ptr<PlanRunner> runner(new PlanRunner(std::move(plan), parts));
  if (parts.device == nullptr && runner->plan_.dispatch_count() > 0) {
    return Error(StatusCode::kInternal, "the plan has {} dispatches and no device", runner->plan_.dispatch_count());
  }
  if (!parts.programs.empty() && parts.programs.size() != runner->plan_.kernels.size())
    return Error(StatusCode::kInternal, "{} programs for {} kernels", parts.programs.size(),
                 runner->plan_.kernels.size());
  const Status ready = runner->MakeReady();
  if (!ready.ok()) {
    if (!parts.stop.stop_requested()) runner->RejectLoaded(ready.message());
    return ready;
  }
  runner->is_ready_ = true;
  return runner;
}

Status PlanRunner::MakeReady() {
  HEARTH_TRY(CreateBuffers());
  WorkBeside compiling([&] {
    if (parts_.device == nullptr) return Status::Ok();
    if (!parts_.programs.empty()) {
      programs_.by_kernel = parts_.programs;
      return Status::Ok();
    }
    const Stopwatch watch;
    Result<LoadedPrograms> programs =
        LoadOrCompile(*parts_.device, plan_.kernels, parts_.store, parts_.CompileThreads(), parts_.stop,
                      parts_.held_programs, parts_.programs_anew, GridClassesOf(plan_, parts_.device->info()));
    times_.programs_ms = watch.milliseconds();
    if (programs.ok()) programs_ = std::move(programs).value();
    return programs.status();
  });
  const Stopwatch watch;
  Status weights_status;
  if (parts_.device != nullptr) {
    Result<std::vector<double>> pack_ms = UploadConstants(*parts_.device, constants_, plan_, parts_.model_files,
                                                          parts_.store, parts_.model_bytes_read, parts_.stop);
    weights_status = pack_ms.status();
    if (pack_ms.ok()) pack_ms_ = std::move(pack_ms).value();
  }
  times_.weights_ms = watch.milliseconds();
  HEARTH_TRY(compiling.Join());
  HEARTH_TRY(weights_status);
  ShareConstants();
  if (parts_.device != nullptr) {
    runs_ = std::make_unique<RunsInFlight>(*parts_.device, plan_, buffers_, parts_.store, parts_.CompileThreads());
  }
  HEARTH_TRY(PrepareStages());
  return ResetState();
}

bool PlanRunner::RejectLoaded(std::string_view reason) {
  if (parts_.store == nullptr || programs_.loaded_keys.empty()) return false;
  parts_.store->Reject(programs_.loaded_keys, reason);
  programs_.loaded_keys.clear();
  return true;
}

Status PlanRunner::CreateBuffers() {
  buffers_.resize(plan_.buffers.size());
  for (size_t b = 0; b < buffers_.size(); ++b) {
    if (plan_.buffers[b].role == BufferRole::kConstants) continue;
    HEARTH_ASSIGN(buffers_[b], parts_.device->CreateBuffer(plan_.buffers[b].size_bytes));
  }
  if (parts_.device == nullptr) return Status::Ok();
  HEARTH_ASSIGN(constants_, PlaceConstants(*parts_.device, plan_, parts_.constants));
  for (size_t b = 0; b < buffers_.size(); ++b) {
    if (plan_.buffers[b].role == BufferRole::kConstants) buffers_[b] = constants_.whole[b];
  }
  return Status::Ok();
}

void PlanRunner::ShareConstants() {
  if (parts_.constants == nullptr || parts_.device == nullptr) return;
  for (size_t k = 0; k < plan_.constants.size(); ++k) {
    HeldRange& place = constants_.places[k];
    if (constants_.is_held[k]) {
      // The plan that packed the constant has decided whether the cache keeps it.
      pack_ms_[k] = place.pack_ms;
      plan_.constants[k].is_kept = plan_.constants[k].is_kept || place.is_kept;
      continue;
    }
    place.pack_ms = pack_ms_[k];
    place.is_kept = plan_.constants[k].is_kept;
    parts_.constants->Add(plan_.constants[k], place);
  }
}

BoundRange PlanRunner::Located(const BufferRange& range) const {
  if (buffers_[range.buffer] == nullptr) return Locate(plan_, constants_, range);
  return {buffers_[range.buffer].get(), range.offset_bytes, range.size_bytes};
}

void PlanRunner::RecordDispatches(std::span<const DispatchPart> dispatches, CommandRecorder& recorder) const {
  for (const DispatchPart& part : dispatches) {
    const auto& dispatch = std::get<Dispatch>(plan_.steps[part.step]);
    const KernelSource& source = plan_.kernels[dispatch.kernel];
    DispatchCommand command;
    command.program = part.is_whole ? programs_.by_kernel[dispatch.kernel] : part_program_.at(dispatch.kernel);
    command.scalars = dispatch.scalars;
    if (!part.is_whole) command.scalars.insert(command.scalars.end(), part.first.begin(), part.first.end());
    command.group_count = part.group_count;
    command.label = dispatch.label;
    std::vector<bool> writes;
    for (size_t k = 0; k < dispatch.tensors.size(); ++k) {
      command.tensors.push_back(Located(dispatch.tensors[k]));
      writes.push_back(source.tensors[k].direction == ArgDirection::kWrite);
    }
    recorder.Record(std::move(command), writes);
  }
}

std::map<ValueId, size_t> PlanRunner::OutputsMadeBy(const HostStep& last) const {
  const std::vector<int> producers = parts_.graph->Producers();
  std::set<ValueId> elsewhere;
  for (const HostTransfer& write : last.writes) elsewhere.insert(write.value);
  for (const PlanState& state : plan_.states) elsewhere.insert(state.next.value);
  std::map<ValueId, size_t> outputs;
  for (size_t k = 0; k < plan_.outputs.size(); ++k) {
    const ValueId value = plan_.outputs[k].transfer.value;
    // An input that is also an output is handed out after the last step, which must not have overwritten it by then.
    if (!plan_.outputs[k].on_device && producers[value] < 0) return {};
    const bool is_second = !outputs.emplace(value, k).second;
    if (is_second || plan_.outputs[k].on_device) elsewhere.insert(value);
  }
  std::erase_if(outputs, [&](const auto& output) { return elsewhere.contains(output.first); });
  return outputs;
}

Status PlanRunner::PrepareHost(const HostStep& step, const std::vector<int>& reads, bool is_last) {
  if (parts_.graph == nullptr || parts_.host == nullptr)
    return Error(StatusCode::kInternal, "the plan has steps on the CPU, but no graph to run them");
  const Graph& graph = *parts_.graph;
  std::map<ValueId, int> made;  // values that the step makes, and how often it reads them
  for (int index : step.nodes) {
    for (ValueId value : graph.nodes()[index].outputs) made.emplace(value, 0);
  }
  for (int index : step.nodes) {
    for (ValueId value : graph.nodes()[index].inputs) {
      if (value == kNoValue || graph.IsConstant(value)) continue;
      const auto own = made.find(value);
      if (own != made.end()) {
        ++own->second;
      } else {
        NoteHostRead(value);
      }
    }
  }
  const std::map<ValueId, size_t> handed_out = is_last ? OutputsMadeBy(step) : std::map<ValueId, size_t>();
  std::vector<ValueId> outputs;
  for (int index : step.nodes) {
    for (ValueId value : graph.nodes()[index].outputs) {
      if (made.at(value) == reads[value] && !graph.IsKept(value)) continue;
      outputs.push_back(value);
      const auto output = handed_out.find(value);
      if (output != handed_out.end()) {
        host_outputs_[value] = output->second;
      } else {
        HostValue(value);
      }
    }
  }
  Stage stage;
  stage.host = &step;
  HEARTH_ASSIGN(stage.program, parts_.host->Prepare(graph, step.nodes, outputs, parts_.threads));
  stages_.push_back(std::move(stage));
  return Status::Ok();
}

void PlanRunner::NoteHostRead(ValueId value) {
  const auto of_value = [value](const PlanTensor& tensor) { return tensor.transfer.value == value; };
  const auto input = std::ranges::find_if(plan_.inputs, of_value);
  if (input == plan_.inputs.end()) {
    HostValue(value);
  } else {
    host_inputs_[value] = static_cast<size_t>(input - plan_.inputs.begin());
  }
}

std::vector<std::byte>& PlanRunner::HostValue(ValueId value) {
  std::vector<std::byte>& bytes = host_values_[value];
  bytes.resize(parts_.graph->value(value).desc.size_bytes());
  return bytes;
}

Status PlanRunner::PrepareStages() {
  const bool has_graph = plan_.has_host_steps() && parts_.graph != nullptr;
  const std::vector<int> reads = has_graph ? parts_.graph->ReadCounts() : std::vector<int>();
  std::vector<size_t> dispatches;
  const auto flush = [&] { AddSlices(std::exchange(dispatches, {}), stages_); };
  for (size_t k = 0; k < plan_.steps.size(); ++k) {
    if (parts_.stop.stop_requested()) return Stopped();
    if (const auto* host = std::get_if<HostStep>(&plan_.steps[k])) {
      flush();
      HEARTH_TRY(PrepareHost(*host, reads, k + 1 == plan_.steps.size()));
    } else {
      dispatches.push_back(k);
    }
  }
  flush();
  return PrepareExecutables(stages_, whole_);
}

uint64_t PlanRunner::held_weights_bytes() const {
  uint64_t bytes = constants_.held_bytes;
  for (const Stage& stage : stages_) bytes += stage.program == nullptr ? 0 : stage.program->found_weights_bytes();
  return bytes;
}

uint64_t PlanRunner::shared_host_weights_bytes() const {
  uint64_t bytes = 0;
  for (const Stage& stage : stages_) bytes += stage.program == nullptr ? 0 : stage.program->shared_weights_bytes();
  return bytes;
}

MemoryFigures PlanRunner::host_memory() const {
  MemoryFigures memory;
  for (const Stage& stage : stages_) {
    if (stage.program == nullptr) continue;
    memory.arena_bytes += stage.program->arena_bytes();
    memory.naive_bytes += stage.program->naive_bytes();
    memory.lower_bound_bytes += stage.program->lower_bound_bytes();
    memory.weights_bytes += stage.program->weights_bytes();
  }
  return memory;
}

namespace {

Status CheckIsMemory(std::span<const std::byte> memory, const std::string& name) {
  if (memory.data() != nullptr || memory.empty()) return Status::Ok();
  return Error(StatusCode::kInvalidArgument, "the memory for '{}' is a null pointer", name);
}

}  // namespace

Status PlanRunner::CheckSizes(std::span<const std::span<const std::byte>> inputs,
                              std::span<const std::span<std::byte>> outputs) const {
  if (inputs.size() != plan_.inputs.size() || outputs.size() != plan_.outputs.size()) {
    return Error(StatusCode::kInvalidArgument, "the model has {} inputs and {} outputs; {} and {} were given",
                 plan_.inputs.size(), plan_.outputs.size(), inputs.size(), outputs.size());
  }
  for (size_t k = 0; k < inputs.size(); ++k) {
    if (inputs[k].size() != plan_.inputs[k].desc.size_bytes()) {
      return Error(StatusCode::kInvalidArgument, "input '{}' takes {} bytes, {} were given", plan_.inputs[k].name,
                   plan_.inputs[k].desc.size_bytes(), inputs[k].size());
    }
    HEARTH_TRY(CheckIsMemory(inputs[k], plan_.inputs[k].name));
  }
  for (size_t k = 0; k < outputs.size(); ++k) {
    if (outputs[k].size() != plan_.outputs[k].desc.size_bytes()) {
      return Error(StatusCode::kInvalidArgument, "output '{}' has {} bytes, but room for {} was given",
                   plan_.outputs[k].name, plan_.outputs[k].desc.size_bytes(), outputs[k].size());
    }
    HEARTH_TRY(CheckIsMemory(outputs[k], plan_.outputs[k].name));
  }
  return Status::Ok();
}

Status PlanRunner::Upload(const HostTransfer& transfer, std::span<const std::byte> dense, TransferCounts& counts) {
  return ToDevice(*parts_.device, Located(transfer.range), transfer, dense, counts);
}

Status PlanRunner::Download(const HostTransfer& transfer, std::span<std::byte> dense, TransferCounts& counts) {
  return FromDevice(*parts_.device, Located(transfer.range), transfer, dense, counts);
}

Status PlanRunner::AdvanceHostStates(TransferCounts& counts) {
  for (const PlanState& state : plan_.states) {
    if (state.on_device) continue;
    std::vector<std::byte>& content = HostValue(state.transfer.value);
    if (state.next_on_device) {
      HEARTH_TRY(Download(state.next, content, counts));
    } else {
      content = HostValue(state.next.value);
    }
  }
  return Status::Ok();
}

Status PlanRunner::ResetState() {
  HEARTH_TRY(WaitForSubmitted());
  for (const PlanState& state : plan_.states) {
    if (!state.on_device) {
      HEARTH_ASSIGN(HostValue(state.transfer.value), BytesOfZeros(state.desc));
      continue;
    }
    const BufferRange& range = state.transfer.range;
    HEARTH_TRY(parts_.device->Write(*buffers_[range.buffer], range.offset_bytes, range.size_bytes,
                                    [](std::span<std::byte> memory) {
                                      std::memset(memory.data(), 0, memory.size());
                                      return Status::Ok();
                                    }));
  }
  return Status::Ok();
}

Result<std::vector<StateContent>> PlanRunner::ReadStates() {
  HEARTH_TRY(WaitForSubmitted());
  TransferCounts not_of_a_run;
  std::vector<StateContent> contents;
  for (const PlanState& state : plan_.states) {
    StateContent& content = contents.emplace_back(StateContent{state.name, {}});
    if (state.on_device) {
      content.bytes.resize(state.desc.size_bytes());
      HEARTH_TRY(Download(state.transfer, content.bytes, not_of_a_run));
    } else {
      content.bytes = HostValue(state.transfer.value);
    }
  }
  return contents;
}

Status PlanRunner::WriteStates(std::span<const StateContent> contents) {
  HEARTH_TRY(WaitForSubmitted());
  TransferCounts not_of_a_run;
  for (const PlanState& state : plan_.states) {
    const auto content = std::ranges::find(contents, state.name, &StateContent::name);
    if (content == contents.end() || content->bytes.size() != state.desc.size_bytes()) continue;
    if (state.on_device) {
      HEARTH_TRY(Upload(state.transfer, content->bytes, not_of_a_run));
    } else {
      HostValue(state.transfer.value) = content->bytes;
    }
  }
  return Status::Ok();
}

Status PlanRunner::RunHost(Stage& stage, std::span<const std::span<const std::byte>> inputs,
                           std::span<const std::span<std::byte>> outputs, std::vector<ProfileRow>* profile,
                           TransferCounts& counts) {
  const Stopwatch watch;
  for (const HostTransfer& read : stage.host->reads) HEARTH_TRY(Download(read, HostValue(read.value), counts));
  std::vector<HostTensor> tensors;
  for (auto& [value, bytes] : host_values_) tensors.push_back({value, bytes});
  for (const auto& [value, index] : host_inputs_) {
    // A program writes only its outputs.
    tensors.push_back({value, {const_cast<std::byte*>(inputs[index].data()), inputs[index].size()}});
  }
  for (const auto& [value, index] : host_outputs_) tensors.push_back({value, outputs[index]});
  std::vector<HostNodeTime> times;
  HEARTH_TRY(stage.program->Run(tensors, profile != nullptr ? &times : nullptr));
  for (const HostTransfer& write : stage.host->writes) HEARTH_TRY(Upload(write, HostValue(write.value), counts));
  if (profile == nullptr) return Status::Ok();
  double rest_ms = watch.milliseconds();
  for (const HostNodeTime& time : times) {
    profile->push_back(
        {NodeLabel(parts_.graph->nodes()[time.node]), fmt::format("cpu {}", time.kernel), time.milliseconds});
    rest_ms -= time.milliseconds;
  }
  profile->push_back({fmt::format("values for {} nodes on the CPU", times.size()), "cpu copy", std::max(0.0, rest_ms)});
  return Status::Ok();
}

Status PlanRunner::ProfileDispatches(Stage& stage, std::vector<ProfileRow>& profile) {
  HEARTH_ASSIGN(Executable * executable, ExecutableOf(stage));
  HEARTH_ASSIGN(const std::vector<double> times_ms, executable->RunProfiled());
  for (size_t k = 0; k < stage.dispatches.size() && k < times_ms.size(); ++k) {
    const DispatchPart& part = stage.dispatches[k];
    const auto& dispatch = std::get<Dispatch>(plan_.steps[part.step]);
    if (part.is_first()) profile.push_back({dispatch.label, plan_.kernels[dispatch.kernel].name, 0});
    profile.back().milliseconds += times_ms[k];
  }
  return Status::Ok();
}

std::vector<std::string> PlanRunner::SaveToStore(bool plan_is_new) {
  if (parts_.store == nullptr) return {};
  is_saved_ = true;
  if (plan_is_new) StoreCostlyConstants(plan_, pack_ms_, parts_.model_files, *parts_.store);
  std::vector<std::string> warnings = StoreFreshPrograms(programs_, *parts_.store, parts_.stop);
  const auto add = [&](const std::vector<std::string>& more) {
    warnings.insert(warnings.end(), more.begin(), more.end());
  };
  for (LoadedPrograms& programs : part_programs_) add(StoreFreshPrograms(programs, *parts_.store, parts_.stop));
  if (runs_ != nullptr) add(runs_->SaveToStore());
  return warnings;
}

}  // namespace hearth
