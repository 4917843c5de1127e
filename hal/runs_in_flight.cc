#include "hal/runs_in_flight.h"

#include <algorithm>

#include "core/base/error.h"
#include "hal/smaller_groups.h"

namespace hearth {

Result<Program*> RunsInFlight::ProgramFor(const KernelSource& source) {
  for (const BindingProgram& known : programs_) {
    if (known.source == source) return known.loaded.by_kernel[0];
  }
  HEARTH_ASSIGN(LoadedPrograms loaded, LoadOrCompile(device_, {&source, 1}, store_, threads_));
  if (is_saved_) {
    // The next save may be far off, so other processes should compile the program themselves.
    for (FreshGroup& fresh : loaded.fresh) fresh.claim.reset();
  }
  programs_.push_back({source, std::move(loaded)});
  return programs_.back().loaded.by_kernel[0];
}

Status RunsInFlight::MakeKernelAndProgram(const MakeKernel& make, BindingKernel& kernel, Program*& program) {
  DeviceInfo info = InfoAsCompiled(device_);
  return MakeInSmallerGroups(device_, info, [&]() -> Status {
    HEARTH_ASSIGN(kernel, make(info));
    HEARTH_ASSIGN(program, ProgramFor(kernel.source));
    return Status::Ok();
  });
}

Status RunsInFlight::MakeTransfer(Endpoint& endpoint, const PlanTensor& tensor, const Binding* binding,
                                  bool is_output) {
  MakeKernel make;
  if (binding == nullptr) {
    make = [&](const DeviceInfo& device) {
      if (!IsConverted(tensor)) return CopyKernel(tensor.transfer, device);
      return (is_output ? WriteBytesKernel : ReadBytesKernel)(tensor.transfer, device);
    };
  } else {
    HEARTH_ASSIGN(const BindingLayout layout, LayoutOf(*binding, tensor.desc));
    if (binding->memory == kOwnBuffer) {
      endpoint.lent = *reinterpret_cast<const std::shared_ptr<Buffer>*>(binding->handle);
    } else {
      HEARTH_ASSIGN(endpoint.lent, device_.ImportBuffer(MemoryOf(*binding, tensor.desc, is_output)));
    }
    const bool is_texture = binding->memory == MemoryKind::kGlTexture;
    make = [&tensor, layout, is_texture, is_output](const DeviceInfo& device) {
      return (is_output ? WriteBindingKernel : ReadBindingKernel)(layout, is_texture, tensor.transfer, device);
    };
  }
  HEARTH_TRY(MakeKernelAndProgram(make, endpoint.kernel, endpoint.program));
  endpoint.is_ready = true;
  return Status::Ok();
}

Status RunsInFlight::Bind(std::vector<Endpoint>& endpoints, const std::vector<PlanTensor>& tensors, size_t index,
                          const Binding& binding, bool is_output) {
  HEARTH_CHECK(index < tensors.size() && tensors[index].on_device);
  endpoints.resize(tensors.size());
  Endpoint endpoint;
  if (binding.memory != MemoryKind::kHost) {
    HEARTH_TRY(MakeTransfer(endpoint, tensors[index], &binding, is_output).Within("'" + tensors[index].name + "'"));
  } else if (endpoints[index].lent == nullptr) {
    return Status::Ok();
  }
  Replace(endpoints[index], std::move(endpoint));
  return Status::Ok();
}

void RunsInFlight::Replace(Endpoint& endpoint, Endpoint next) {
  std::swap(endpoint, next);
  if (next.lent != nullptr) retired_.push_back(std::move(next.lent));
  if (next.table != nullptr) retired_.push_back(std::move(next.table));
  for (Slot& slot : slots_) slot.is_stale = true;
  DropStale();
}

void RunsInFlight::DropStale() {
  bool any_in_use = false;
  for (Slot& slot : slots_) {
    if (!slot.is_stale) continue;
    if (slot.is_busy) {
      any_in_use = true;
      continue;
    }
    for (Side* side : {&slot.inputs, &slot.outputs}) {
      side->moving.reset();
      side->memory.clear();
      side->bytes.clear();
    }
    slot.is_stale = false;
  }
  if (!any_in_use) retired_.clear();
}

BoundRange RunsInFlight::InArena(const PlanTensor& tensor) const {
  const BufferRange& range = tensor.transfer.range;
  return {buffers_[range.buffer].get(), range.offset_bytes, range.size_bytes};
}

Status RunsInFlight::PrepareBytes(Endpoint& endpoint, const PlanTensor& tensor, size_t k, bool is_output, Side& side) {
  if (!endpoint.is_ready) HEARTH_TRY(MakeTransfer(endpoint, tensor, nullptr, is_output));
  return PrepareCrossing(CrossingBytes(tensor.transfer), k, side);
}

Status RunsInFlight::PrepareCrossing(uint64_t size_bytes, size_t k, Side& side) {
  if (side.memory[k] == nullptr) {
    HEARTH_ASSIGN(side.memory[k], Staging(size_bytes));
    HEARTH_ASSIGN(std::unique_ptr<Buffer> on_device, device_.CreateBuffer(size_bytes));
    (side.memory[k] == nullptr ? side.memory[k] : side.bytes[k]) = std::move(on_device);
  }
  side.on_device[k] = {side.memory[k].get(), 0, size_bytes};
  return Status::Ok();
}

void RunsInFlight::RecordKernel(const Endpoint& endpoint, const PlanTensor& tensor, const BoundRange& outer,
                                bool is_output, CommandRecorder& recorder) const {
  const BoundRange inner = InArena(tensor);
  std::vector<BoundRange> ranges = is_output ? std::vector{inner, outer} : std::vector{outer, inner};
  std::vector<bool> writes = {false, true};
  if (endpoint.table != nullptr) {
    ranges.insert(ranges.begin() + 1, {endpoint.table.get(), 0, endpoint.table->size_bytes()});
    writes.insert(writes.begin(), false);
  }
  DispatchCommand command{endpoint.program, std::move(ranges), endpoint.kernel.scalars, endpoint.kernel.group_count,
                          fmt::format("{} '{}'", is_output ? "output" : "input", tensor.name)};
  recorder.Record(std::move(command), writes);
}

void RunsInFlight::RecordBytes(const Endpoint& endpoint, const PlanTensor& tensor, size_t k, bool is_output,
                               const Side& side, CommandRecorder& recorder) const {
  const BoundRange& outside = side.on_device[k];
  const bool is_staged = side.bytes[k] != nullptr;
  const BoundRange inside = is_staged ? BoundRange{side.bytes[k].get(), 0, outside.size_bytes} : outside;
  if (is_staged && !is_output) recorder.Record(CopyCommand{outside, inside});
  RecordKernel(endpoint, tensor, inside, is_output, recorder);
  if (is_staged && is_output) recorder.Record(CopyCommand{inside, outside});
}

Status RunsInFlight::PrepareSide(std::vector<Endpoint>& endpoints, const std::vector<PlanTensor>& tensors,
                                 bool is_output, Side& side) {
  endpoints.resize(tensors.size());
  side.memory.resize(tensors.size());
  side.bytes.resize(tensors.size());
  side.on_device.assign(tensors.size(), {});
  CommandRecorder recorder;
  for (size_t k = 0; k < tensors.size(); ++k) {
    if (!tensors[k].on_device) continue;
    Endpoint& endpoint = endpoints[k];
    const BoundRange inner = InArena(tensors[k]);
    if (const FrameInput* frame = FrameOf(k, is_output); frame != nullptr && endpoint.lent == nullptr) {
      HEARTH_TRY(PrepareCrossing(frame->size_bytes(), k, side));
      RecordFrame(tensors[k], k, side, recorder);
      continue;
    }
    if (endpoint.lent == nullptr && IsConverted(tensors[k])) {
      HEARTH_TRY(PrepareBytes(endpoint, tensors[k], k, is_output, side));
      RecordBytes(endpoint, tensors[k], k, is_output, side, recorder);
      continue;
    }
    if (endpoint.lent == nullptr && device_stages_) {
      if (side.memory[k] == nullptr) {
        HEARTH_ASSIGN(side.memory[k], Staging(inner.size_bytes));
      }
      if (side.memory[k] != nullptr) {
        side.on_device[k] = {side.memory[k].get(), 0, inner.size_bytes};
        recorder.Record(is_output ? CopyCommand{inner, side.on_device[k]} : CopyCommand{side.on_device[k], inner});
        continue;
      }
    }
    if (!endpoint.is_ready) HEARTH_TRY(MakeTransfer(endpoint, tensors[k], nullptr, is_output));
    if (endpoint.lent != nullptr) {
      side.memory[k].reset();
      side.bytes[k].reset();
    } else {
      if (side.memory[k] == nullptr) {
        HEARTH_ASSIGN(side.memory[k], device_.CreateBuffer(inner.size_bytes));
      }
      side.on_device[k] = {side.memory[k].get(), 0, inner.size_bytes};
    }
    const BoundRange outer =
        endpoint.lent != nullptr ? BoundRange{endpoint.lent.get(), 0, endpoint.lent->size_bytes()} : side.on_device[k];
    RecordKernel(endpoint, tensors[k], outer, is_output, recorder);
  }
  HEARTH_ASSIGN(side.moving, device_.Prepare(recorder.Finish()));
  return Status::Ok();
}

Status RunsInFlight::PrepareSlot(Slot& slot) {
  if (slot.inputs.moving != nullptr && slot.outputs.moving != nullptr) return Status::Ok();
  HEARTH_TRY(PrepareSide(inputs_, plan_.inputs, false, slot.inputs));
  HEARTH_TRY(PrepareSide(outputs_, plan_.outputs, true, slot.outputs));
  slot.known_programs = programs_.size();
  return Status::Ok();
}

Status RunsInFlight::PrepareArenaSlot() {
  if (std::ranges::any_of(slots_, &Slot::is_busy))
    return Error(StatusCode::kInternal, "a run in the arena itself was requested while others are in flight");
  if (arena_is_prepared_) return Status::Ok();
  arena_is_staged_ = false;
  HEARTH_TRY(PrepareArenaSide(plan_.inputs, false, arena_slot_.inputs, arena_inputs_));
  HEARTH_TRY(PrepareArenaSide(plan_.outputs, true, arena_slot_.outputs, arena_outputs_));
  arena_slot_.known_programs = programs_.size();
  arena_is_prepared_ = true;
  return Status::Ok();
}

Result<std::unique_ptr<Buffer>> RunsInFlight::Staging(uint64_t size_bytes) {
  if (!device_stages_) return std::unique_ptr<Buffer>();
  Result<std::unique_ptr<Buffer>> staging = device_.CreateStaging(size_bytes);
  device_stages_ = staging.status().code() != StatusCode::kUnsupported;
  if (!device_stages_) return std::unique_ptr<Buffer>();
  return staging;
}

Status RunsInFlight::PrepareArenaSide(const std::vector<PlanTensor>& tensors, bool is_output, Side& side,
                                      std::vector<Endpoint>& endpoints) {
  side.memory.clear();
  side.memory.resize(tensors.size());
  side.bytes.clear();
  side.bytes.resize(tensors.size());
  side.on_device.assign(tensors.size(), {});
  endpoints.resize(tensors.size());
  for (size_t k = 0; k < tensors.size(); ++k) {
    if (!tensors[k].on_device) continue;
    if (const FrameInput* frame = FrameOf(k, is_output); frame != nullptr) {
      HEARTH_TRY(PrepareCrossing(frame->size_bytes(), k, side));
    } else if (IsConverted(tensors[k])) {
      HEARTH_TRY(PrepareBytes(endpoints[k], tensors[k], k, is_output, side));
    } else {
      const BoundRange inner = InArena(tensors[k]);
      HEARTH_ASSIGN(side.memory[k], Staging(inner.size_bytes));
      side.on_device[k] = side.memory[k] != nullptr ? BoundRange{side.memory[k].get(), 0, inner.size_bytes} : inner;
    }
    arena_is_staged_ = arena_is_staged_ || side.memory[k] != nullptr;
  }
  return Status::Ok();
}

void RunsInFlight::RecordCopies(const std::vector<PlanTensor>& tensors, bool is_output, const Side& side,
                                const std::vector<Endpoint>& endpoints, CommandRecorder& recorder) const {
  for (size_t k = 0; k < tensors.size(); ++k) {
    if (side.memory[k] == nullptr) continue;
    if (FrameOf(k, is_output) != nullptr) {
      RecordFrame(tensors[k], k, side, recorder);
      continue;
    }
    if (IsConverted(tensors[k])) {
      RecordBytes(endpoints[k], tensors[k], k, is_output, side, recorder);
      continue;
    }
    const BoundRange inner = InArena(tensors[k]);
    recorder.Record(is_output ? CopyCommand{inner, side.on_device[k]} : CopyCommand{side.on_device[k], inner});
  }
}

Result<bool> RunsInFlight::StagesArena() {
  HEARTH_TRY(PrepareArenaSlot());
  return arena_is_staged_;
}

void RunsInFlight::RecordArenaInputs(CommandRecorder& recorder) const {
  RecordCopies(plan_.inputs, false, arena_slot_.inputs, arena_inputs_, recorder);
}

void RunsInFlight::RecordArenaOutputs(CommandRecorder& recorder) const {
  RecordCopies(plan_.outputs, true, arena_slot_.outputs, arena_outputs_, recorder);
}

// For plans whose dispatches are in several submissions.
Status RunsInFlight::PrepareArenaMoving() {
  Side& inputs = arena_slot_.inputs;
  Side& outputs = arena_slot_.outputs;
  if (inputs.moving != nullptr && outputs.moving != nullptr) return Status::Ok();
  CommandRecorder recorder;
  RecordArenaInputs(recorder);
  HEARTH_ASSIGN(inputs.moving, device_.Prepare(recorder.Finish()));
  RecordArenaOutputs(recorder);
  HEARTH_ASSIGN(outputs.moving, device_.Prepare(recorder.Finish()));
  return Status::Ok();
}

Status RunsInFlight::Begin(size_t index, std::span<const std::span<const std::byte>> inputs,
                           std::span<const SyncPoint> wait_for, bool plan_copies) {
  if (index != kArenaSlot && index >= slots_.size()) slots_.resize(index + 1);
  Slot& slot = At(index);
  HEARTH_CHECK(!slot.is_busy);
  HEARTH_TRY(index == kArenaSlot ? PrepareArenaSlot() : PrepareSlot(slot));
  slot.moves = index != kArenaSlot || (arena_is_staged_ && !plan_copies);
  if (index == kArenaSlot && slot.moves) HEARTH_TRY(PrepareArenaMoving());
  slot.transfers = {};
  slot.is_busy = true;
  for (size_t k = 0; k < plan_.inputs.size(); ++k) {
    if (slot.inputs.on_device[k].buffer == nullptr) continue;
    const PlanTensor& input = plan_.inputs[k];
    if (const FrameInput* frame = FrameOf(k, false); frame != nullptr) {
      HEARTH_TRY(FrameToDevice(device_, slot.inputs.on_device[k], *frame, slot.transfers));
      continue;
    }
    HEARTH_TRY((IsConverted(input) ? BytesToDevice : ToDevice)(device_, slot.inputs.on_device[k], input.transfer,
                                                               inputs[k], slot.transfers));
  }
  if (!slot.moves) return Status::Ok();
  HEARTH_ASSIGN(slot.inputs.submission, slot.inputs.moving->Submit({.wait_for = wait_for}));
  return Status::Ok();
}

Status RunsInFlight::WaitForBegin(size_t index) {
  const Slot& slot = At(index);
  return !slot.moves ? Status::Ok() : slot.inputs.moving->Wait(slot.inputs.submission);
}

Status RunsInFlight::End(size_t index, std::span<const SyncPoint> signal, uint64_t* fence) {
  Slot& slot = At(index);
  if (!slot.moves) return Status::Ok();
  HEARTH_ASSIGN(slot.outputs.submission, slot.outputs.moving->Submit({.signal = signal, .fence = fence}));
  return Status::Ok();
}

namespace {

// The last one is waited for first. Waits for the others then return at once, each with its own error.
Status WaitForEach(Executable& executable, uint64_t first, uint64_t last) {
  Status of_last = executable.Wait(last);
  for (uint64_t number = first; number < last; ++number) HEARTH_TRY(executable.Wait(number));
  return of_last;
}

}  // namespace

Status RunsInFlight::Finish(size_t index, std::span<const std::span<std::byte>> outputs) {
  Slot& slot = At(index);
  Status status;
  if (slot.moves) status = WaitForEach(*slot.outputs.moving, slot.inputs.submission, slot.outputs.submission);
  for (size_t k = 0; status.ok() && k < plan_.outputs.size(); ++k) {
    if (slot.outputs.on_device[k].buffer == nullptr) continue;
    const PlanTensor& output = plan_.outputs[k];
    status = (IsConverted(output) ? BytesFromDevice : FromDevice)(device_, slot.outputs.on_device[k], output.transfer,
                                                                  outputs[k], slot.transfers);
  }
  if (status.ok()) programs_that_ran_ = std::max(programs_that_ran_, slot.known_programs);
  slot.is_busy = false;
  DropStale();
  return status;
}

void RunsInFlight::Abandon(size_t index) {
  if (index != kArenaSlot && index >= slots_.size()) return;
  Slot& slot = At(index);
  // The executables' destructors wait for their submissions.
  slot.inputs.moving.reset();
  slot.outputs.moving.reset();
  slot.is_busy = false;
  DropStale();
}

int RunsInFlight::programs_compiled() const {
  int compiled = 0;
  for (const BindingProgram& program : programs_) compiled += program.loaded.compiled;
  return compiled;
}

bool RunsInFlight::HasMoreToStore() const {
  const auto end = programs_.begin() + static_cast<std::ptrdiff_t>(programs_that_ran_);
  return std::any_of(programs_.begin(), end, [](const BindingProgram& known) { return !known.loaded.fresh.empty(); });
}

std::vector<std::string> RunsInFlight::SaveToStore() {
  is_saved_ = true;
  std::vector<std::string> warnings;
  for (size_t k = 0; k < programs_.size(); ++k) {
    LoadedPrograms& loaded = programs_[k].loaded;
    if (k >= programs_that_ran_) {
      for (FreshGroup& fresh : loaded.fresh) fresh.claim.reset();
      continue;
    }
    std::vector<std::string> more = StoreFreshPrograms(loaded, *store_);
    warnings.insert(warnings.end(), more.begin(), more.end());
  }
  return warnings;
}

}  // namespace hearth
