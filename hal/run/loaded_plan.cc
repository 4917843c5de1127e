#include "hal/run/loaded_plan.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/base/error.h"
#include "core/base/threads.h"
#include "hal/device/stopping.h"
#include "hal/device/stopwatch.h"
#include "hal/programs/load_or_compile.h"

namespace hearth {

LoadedPlan::LoadedPlan(Plan plan, LoadRequest request) : plan_(std::move(plan)), request_(std::move(request)) {}
LoadedPlan::~LoadedPlan() = default;

Result<std::unique_ptr<LoadedPlan>> LoadedPlan::Load(Plan plan, LoadRequest request) {
  HEARTH_CHECK(request.device != nullptr);
  if (!request.programs.empty() && request.programs.size() != plan.kernels.size())
    return Error(StatusCode::kInternal, "{} programs for {} kernels", request.programs.size(), plan.kernels.size());
  std::unique_ptr<LoadedPlan> loaded(new LoadedPlan(std::move(plan), std::move(request)));
  const Status ready = loaded->MakeReady();
  if (ready.ok()) return loaded;
  if (!loaded->request_.stop.stop_requested()) loaded->RejectLoaded(ready.message());
  return ready;
}

Status LoadedPlan::LoadPrograms() {
  if (!request_.programs.empty()) {
    programs_.by_kernel = request_.programs;
    return Status::Ok();
  }
  const Stopwatch watch;
  Result<LoadedPrograms> programs =
      LoadOrCompile(device(), plan_.kernels, request_.store, request_.CompileThreads(), request_.stop,
                    request_.shared_programs.get(), request_.programs_anew, GridClassesOf(plan_, device().info()));
  times_.programs_ms = watch.milliseconds();
  if (programs.ok()) programs_ = std::move(programs).value();
  return programs.status();
}

Status LoadedPlan::MakeReady() {
  HEARTH_TRY(CreateBuffers());
  WorkBeside compiling([this] { return LoadPrograms(); });
  const Stopwatch watch;
  Result<std::vector<double>> pack_ms = UploadConstants(device(), constants_, plan_, request_.model_files,
                                                        request_.store, request_.model_bytes_read, request_.stop);
  times_.weights_ms = watch.milliseconds();
  HEARTH_TRY(compiling.Join());
  HEARTH_ASSIGN(pack_ms_, std::move(pack_ms));
  ShareConstants();
  return PrepareHostPrograms();
}

Status LoadedPlan::CreateBuffers() {
  buffers_.resize(plan_.buffers.size());
  for (size_t b = 0; b < buffers_.size(); ++b) {
    if (plan_.buffers[b].role == BufferRole::kConstants) continue;
    HEARTH_ASSIGN(buffers_[b], device().CreateBuffer(plan_.buffers[b].size_bytes));
  }
  HEARTH_ASSIGN(constants_, PlaceConstants(device(), plan_, request_.constants.get()));
  for (size_t b = 0; b < buffers_.size(); ++b) {
    if (plan_.buffers[b].role == BufferRole::kConstants) buffers_[b] = constants_.whole[b];
  }
  return Status::Ok();
}

void LoadedPlan::ShareConstants() {
  if (request_.constants == nullptr) return;
  for (size_t k = 0; k < plan_.constants.size(); ++k) {
    ResidentRange& place = constants_.places[k];
    if (constants_.is_held[k]) {
      // The plan that packed the constant has decided whether the cache keeps it.
      pack_ms_[k] = place.pack_ms;
      plan_.constants[k].is_kept = plan_.constants[k].is_kept || place.is_kept;
      continue;
    }
    place.pack_ms = pack_ms_[k];
    place.is_kept = plan_.constants[k].is_kept;
    request_.constants->Add(plan_.constants[k], place);
  }
}

Status LoadedPlan::PrepareHostPrograms() {
  for (const Segment& segment : plan_.segments) {
    std::unique_ptr<HostProgram>& program = host_programs_.emplace_back();
    if (segment.executor != Executor::kCpu) continue;
    if (request_.stop.stop_requested()) return Stopped();
    if (request_.graph == nullptr || request_.host == nullptr)
      return Error(StatusCode::kInternal, "a part of the plan runs on the CPU, but there is no graph to run it");
    std::vector<ValueId> outputs;
    for (const SegmentOperand& write : segment.writes) outputs.push_back(write.transfer.value);
    HEARTH_ASSIGN(program, request_.host->Prepare(*request_.graph, segment.nodes, outputs, request_.threads,
                                                  request_.model_bytes_read));
  }
  return Status::Ok();
}

BoundRange LoadedPlan::Located(const BufferRange& range) const {
  if (buffers_[range.buffer] == nullptr) return Locate(plan_, constants_, range);
  return {buffers_[range.buffer].get(), range.offset_bytes, range.size_bytes};
}

void LoadedPlan::Record(std::span<const DispatchPart> dispatches, std::span<Program* const> part_programs,
                        CommandRecorder& recorder) const {
  for (const DispatchPart& part : dispatches) {
    const Dispatch& dispatch = plan_.dispatches[part.dispatch];
    const KernelSource& source = plan_.kernels[dispatch.kernel];
    DispatchCommand command;
    command.program = part.is_whole ? programs_.by_kernel[dispatch.kernel] : part_programs[dispatch.kernel];
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

uint64_t LoadedPlan::held_weights_bytes() const {
  uint64_t bytes = constants_.held_bytes;
  for (const auto& program : host_programs_) bytes += program == nullptr ? 0 : program->found_weights_bytes();
  return bytes;
}

uint64_t LoadedPlan::shared_host_weights_bytes() const {
  uint64_t bytes = 0;
  for (const auto& program : host_programs_) bytes += program == nullptr ? 0 : program->shared_weights_bytes();
  return bytes;
}

std::vector<std::span<const std::byte>> LoadedPlan::read_in_place() const {
  std::vector<std::span<const std::byte>> all;
  for (const auto& program : host_programs_) {
    if (program != nullptr) std::ranges::copy(program->read_in_place(), std::back_inserter(all));
  }
  return all;
}

MemoryFigures LoadedPlan::host_memory() const {
  MemoryFigures memory;
  for (const auto& program : host_programs_) {
    if (program == nullptr) continue;
    memory.arena_bytes += program->arena_bytes();
    memory.naive_bytes += program->naive_bytes();
    memory.lower_bound_bytes += program->lower_bound_bytes();
    memory.weights_bytes += program->weights_bytes();
  }
  return memory;
}

bool LoadedPlan::RejectLoaded(std::string_view reason) {
  if (request_.store == nullptr || programs_.loaded_keys.empty()) return false;
  request_.store->Reject(programs_.loaded_keys, reason);
  programs_.loaded_keys.clear();
  return true;
}

std::vector<std::string> LoadedPlan::Store(bool plan_is_new) {
  if (plan_is_new)
    StoreCostlyConstants(plan_, pack_ms_, request_.model_files, *request_.store, request_.copy_model_bytes);
  return StoreFreshPrograms(programs_, *request_.store, request_.stop);
}

}  // namespace hearth
