#include "hal/requests.h"

#include <algorithm>

#include "core/base/error.h"
#include "hal/slices.h"

namespace hearth {

Result<Program*> Requests::ProgramFor(const KernelSource& source) {
  for (const EdgeProgram& known : programs_) {
    if (known.source == source) return known.loaded.by_kernel[0];
  }
  HEARTH_ASSIGN(LoadedPrograms loaded, LoadOrCompile(device_, {&source, 1}, store_, threads_));
  programs_.push_back({source, std::move(loaded)});
  return programs_.back().loaded.by_kernel[0];
}

Status Requests::MakeEdge(Edge& edge, const PlanTensor& tensor, const Binding* binding, bool is_output) {
  if (binding == nullptr) {
    HEARTH_ASSIGN(edge.kernel, CopyEdgeKernel(tensor.transfer, device_.info()));
  } else {
    HEARTH_ASSIGN(const EdgeLayout layout, LayoutOf(*binding, tensor.desc));
    const bool is_texture = binding->memory == MemoryKind::kGlTexture;
    HEARTH_ASSIGN(edge.lent, device_.ImportBuffer(MemoryOf(*binding, tensor.desc, is_output)));
    HEARTH_ASSIGN(edge.kernel,
                  (is_output ? WriteEdgeKernel : ReadEdgeKernel)(layout, is_texture, tensor.transfer, device_.info()));
  }
  HEARTH_ASSIGN(edge.program, ProgramFor(edge.kernel.source));
  edge.is_ready = true;
  return Status::Ok();
}

Status Requests::Bind(std::vector<Edge>& edges, const std::vector<PlanTensor>& tensors, size_t index,
                      const Binding& binding, bool is_output) {
  HEARTH_CHECK(index < tensors.size() && tensors[index].on_device);
  edges.resize(tensors.size());
  Edge edge;
  if (binding.memory != MemoryKind::kHost) {
    HEARTH_TRY(MakeEdge(edge, tensors[index], &binding, is_output).Within("'" + tensors[index].name + "'"));
  } else if (edges[index].lent == nullptr) {
    return Status::Ok();
  }
  std::swap(edges[index], edge);
  if (edge.lent != nullptr) retired_.push_back(std::move(edge.lent));
  for (Slot& slot : slots_) slot.is_stale = true;
  DropStale();
  return Status::Ok();
}

void Requests::DropStale() {
  bool any_in_use = false;
  for (Slot& slot : slots_) {
    if (!slot.is_stale) continue;
    if (slot.is_busy) {
      any_in_use = true;
      continue;
    }
    slot.before.reset();
    slot.behind.reset();
    slot.is_stale = false;
  }
  if (!any_in_use) retired_.clear();
}

Status Requests::PrepareSide(std::vector<Edge>& edges, const std::vector<PlanTensor>& tensors, bool is_output,
                             std::vector<std::unique_ptr<Buffer>>& memory, std::unique_ptr<Executable>& executable) {
  edges.resize(tensors.size());
  memory.resize(tensors.size());
  CommandRecorder recorder;
  for (size_t k = 0; k < tensors.size(); ++k) {
    if (!tensors[k].on_device) continue;
    Edge& edge = edges[k];
    if (!edge.is_ready) HEARTH_TRY(MakeEdge(edge, tensors[k], nullptr, is_output));
    const BufferRange& range = tensors[k].transfer.range;
    if (edge.lent != nullptr) {
      memory[k].reset();
    } else if (memory[k] == nullptr) {
      HEARTH_ASSIGN(memory[k], device_.CreateBuffer(range.size_bytes));
    }
    Buffer& outside = edge.lent != nullptr ? *edge.lent : *memory[k];
    const BoundRange outer{&outside, 0, outside.size_bytes()};
    const BoundRange inner{buffers_[range.buffer].get(), range.offset_bytes, range.size_bytes};
    DispatchCommand command{edge.program, is_output ? std::vector{inner, outer} : std::vector{outer, inner},
                            edge.kernel.scalars, edge.kernel.group_count,
                            fmt::format("{} '{}'", is_output ? "output" : "input", tensors[k].name)};
    recorder.Record(std::move(command), {false, true});
  }
  HEARTH_ASSIGN(executable, device_.Prepare(recorder.Finish()));
  return Status::Ok();
}

Status Requests::PrepareSlot(Slot& slot) {
  if (slot.before != nullptr && slot.behind != nullptr) return Status::Ok();
  HEARTH_TRY(PrepareSide(inputs_, plan_.inputs, false, slot.inputs, slot.before));
  return PrepareSide(outputs_, plan_.outputs, true, slot.outputs, slot.behind);
}

Status Requests::Begin(size_t index, std::span<const std::span<const std::byte>> inputs,
                       std::span<const SyncPoint> wait_for) {
  if (index >= slots_.size()) slots_.resize(index + 1);
  Slot& slot = slots_[index];
  HEARTH_CHECK(!slot.is_busy);
  HEARTH_TRY(PrepareSlot(slot));
  slot.transfers = {};
  slot.is_busy = true;
  for (size_t k = 0; k < plan_.inputs.size(); ++k) {
    if (slot.inputs[k] == nullptr) continue;
    const HostTransfer& transfer = plan_.inputs[k].transfer;
    HEARTH_TRY(device_.Write(*slot.inputs[k], 0, transfer.range.size_bytes, [&](std::span<std::byte> memory) {
      DenseToSlices(transfer.desc, transfer.storage, inputs[k], memory);
      return Status::Ok();
    }));
    slot.transfers.to_device_bytes += transfer.range.size_bytes;
  }
  HEARTH_ASSIGN(slot.first_submission, slot.before->Submit({.wait_for = wait_for}));
  return Status::Ok();
}

Status Requests::End(size_t index, std::span<const SyncPoint> signal, uint64_t* fence) {
  Slot& slot = slots_[index];
  HEARTH_ASSIGN(slot.last_submission, slot.behind->Submit({.signal = signal, .fence = fence}));
  return Status::Ok();
}

Status Requests::Finish(size_t index, std::span<const std::span<std::byte>> outputs) {
  Slot& slot = slots_[index];
  Status status;
  // The last one is waited for first: each wait returns at once then, and says what went wrong in its own submission.
  Status last = slot.behind->Wait(slot.last_submission);
  for (uint64_t number = slot.first_submission; status.ok() && number < slot.last_submission; ++number) {
    status = slot.behind->Wait(number);
  }
  if (status.ok()) status = std::move(last);
  for (size_t k = 0; status.ok() && k < plan_.outputs.size(); ++k) {
    if (slot.outputs[k] == nullptr) continue;
    const HostTransfer& transfer = plan_.outputs[k].transfer;
    status = device_.Read(*slot.outputs[k], 0, transfer.range.size_bytes, [&](std::span<const std::byte> memory) {
      SlicesToDense(transfer.desc, transfer.storage, memory, outputs[k]);
      return Status::Ok();
    });
    slot.transfers.to_host_bytes += transfer.range.size_bytes;
  }
  slot.is_busy = false;
  DropStale();
  return status;
}

void Requests::Abandon(size_t index) {
  if (index >= slots_.size()) return;
  Slot& slot = slots_[index];
  // The executables wait for what they submitted.
  slot.before.reset();
  slot.behind.reset();
  slot.is_busy = false;
  DropStale();
}

int Requests::programs_compiled() const {
  int compiled = 0;
  for (const EdgeProgram& program : programs_) compiled += program.loaded.compiled;
  return compiled;
}

std::vector<std::string> Requests::SaveToStore() {
  std::vector<std::string> warnings;
  for (EdgeProgram& program : programs_) {
    std::vector<std::string> more = StoreFreshPrograms(program.loaded, *store_);
    warnings.insert(warnings.end(), more.begin(), more.end());
  }
  return warnings;
}

}  // namespace hearth
