#include "hal/run/plan_edges.h"

#include <algorithm>
#include <utility>

#include "core/base/error.h"
#include "hal/programs/smaller_groups.h"

namespace hearth {

using Way = Crossing::Way;

PlanEdges::PlanEdges(const LoadedPlan& plan, MorePrograms& programs) : plan_(plan), programs_(programs) {
  for (const PlanTensor& input : plan.plan().inputs) EdgesOf(Side::kInput).push_back({&input});
  for (const PlanTensor& output : plan.plan().outputs) EdgesOf(Side::kOutput).push_back({&output});
}

// ---- Binding ----

Result<PlanEdges::Borrowed> PlanEdges::Borrow(Side side, const Edge& edge, const Binding& binding) {
  const PlanTensor& tensor = *edge.tensor;
  HEARTH_ASSIGN(const BindingLayout layout, LayoutOf(binding, tensor.desc));
  Borrowed borrowed;
  if (binding.memory == kOwnBuffer) {
    borrowed.buffer = *reinterpret_cast<const std::shared_ptr<Buffer>*>(binding.handle);
  } else {
    HEARTH_ASSIGN(borrowed.buffer, device().ImportBuffer(MemoryOf(binding, tensor.desc, side == Side::kOutput)));
  }
  const bool is_texture = binding.memory == MemoryKind::kGlTexture;
  const auto make = [&](const DeviceInfo& info) {
    return BorrowedKernel(side, layout, is_texture, tensor.transfer, info);
  };
  HEARTH_TRY(programs_.MakeKernel(make, borrowed.kernel.kernel, borrowed.kernel.program));
  return borrowed;
}

Result<PlanEdges::Borrowed> PlanEdges::Import(const Edge& edge, const Frame& frame) {
  const PlanTensor& tensor = *edge.tensor;
  HEARTH_ASSIGN(FrameLayout layout, LayoutOfFrame(frame, tensor.desc));
  const NativeMemory memory = MemoryOf(frame, layout.planes);
  const uint64_t most_bytes = std::min<uint64_t>(device().info().max_binding_bytes, INT32_MAX);
  if (frame.memory != MemoryKind::kGlTexture && memory.size_bytes > most_bytes) {
    return Error(StatusCode::kResourceExhausted, "the buffer has {} bytes; a kernel of {} can read at most {}",
                 memory.size_bytes, device().info().name, most_bytes);
  }
  Borrowed borrowed;
  HEARTH_ASSIGN(borrowed.buffer, device().ImportBuffer(memory));
  const bool is_texture = borrowed.buffer->is_texture();
  // A texture made of texels in any order gives red first. One made of the bytes of linear memory gives the bytes.
  if (is_texture && IsExternal(frame.memory) && IsInTexels(frame)) layout.format = PixelFormat::kRgba8;
  HEARTH_ASSIGN(borrowed.table, device().CreateBuffer(FrameTableBytes(tensor.desc)));
  HEARTH_TRY(device().Write(*borrowed.table, 0, borrowed.table->size_bytes(), [&](std::span<std::byte> table) {
    FillFrameTable(layout.across, layout.down, table);
    return Status::Ok();
  }));
  const auto make = [&](const DeviceInfo& info) {
    return FrameKernel(layout, layout.planes, is_texture, tensor.transfer, info);
  };
  HEARTH_TRY(programs_.MakeKernel(make, borrowed.kernel.kernel, borrowed.kernel.program));
  return borrowed;
}

Result<bool> PlanEdges::SetFrame(const Edge& edge, const Frame& frame, Framed& framed) {
  bool is_new = true;
  DeviceInfo info = InfoAsCompiled(device());
  HEARTH_TRY(MakeInSmallerGroups(device(), info, [&]() -> Status {
    HEARTH_ASSIGN(const bool changes, framed.input->Set(frame, edge.tensor->transfer, info));
    is_new = changes || framed.program == nullptr;
    if (!is_new) return Status::Ok();
    HEARTH_TRY(programs_.Load({&framed.input->kernel().source, 1}));
    framed.program = programs_.Find(framed.input->kernel().source);
    return Status::Ok();
  }));
  return is_new;
}

Result<PlanEdges::Change> PlanEdges::Bind(Side side, size_t index, const Endpoint& endpoint) {
  Edge& edge = EdgesOf(side)[index];
  HEARTH_CHECK(edge.tensor->on_device);
  Change change;
  decltype(edge.bound) next;
  if (const auto* frame = std::get_if<HostFrame>(&endpoint)) {
    if (auto* present = std::get_if<Framed>(&edge.bound)) {
      HEARTH_ASSIGN(change.alone, SetFrame(edge, frame->frame, *present));
      change.in_flight = change.alone;
      return change;
    }
    HEARTH_TRY(SetFrame(edge, frame->frame, next.emplace<Framed>()).status());
  } else if (const auto* imported = std::get_if<ImportedFrame>(&endpoint)) {
    HEARTH_ASSIGN(next, Import(edge, imported->frame));
  } else if (const auto* borrowed = std::get_if<BorrowedMemory>(&endpoint);
             borrowed != nullptr && borrowed->binding.memory != MemoryKind::kHost) {
    HEARTH_ASSIGN(next, Borrow(side, edge, borrowed->binding));
  }
  change.alone = std::holds_alternative<Framed>(edge.bound) || std::holds_alternative<Framed>(next);
  change.in_flight =
      change.alone || std::holds_alternative<Borrowed>(edge.bound) || std::holds_alternative<Borrowed>(next);
  std::swap(edge.bound, next);
  if (auto* before = std::get_if<Borrowed>(&next)) {
    change.retired.push_back(std::move(before->buffer));
    if (before->table != nullptr) change.retired.push_back(std::move(before->table));
  }
  return change;
}

uint64_t PlanEdges::frame_bytes() const {
  uint64_t bytes = 0;
  for (const Edge& edge : EdgesOf(Side::kInput)) {
    if (const auto* framed = std::get_if<Framed>(&edge.bound)) bytes += framed->input->size_bytes();
  }
  return device().info().unified_memory ? bytes : 2 * bytes;  // a staged frame is in memory twice
}

// ---- Memory ----

Status PlanEdges::MakeOwnKernel(Side side, Edge& edge) {
  if (edge.own.program != nullptr) return Status::Ok();
  const HostTransfer& transfer = edge.tensor->transfer;
  const auto make = [&](const DeviceInfo& info) {
    return IsConverted(edge) ? DenseKernel(side, transfer, info) : CopyKernel(transfer, info);
  };
  return programs_.MakeKernel(make, edge.own.kernel, edge.own.program);
}

Result<std::unique_ptr<Buffer>> PlanEdges::Staging(uint64_t size_bytes) {
  if (!device_stages_) return std::unique_ptr<Buffer>();
  Result<std::unique_ptr<Buffer>> staging = device().CreateStaging(size_bytes);
  device_stages_ = staging.status().code() != StatusCode::kUnsupported;
  if (!device_stages_) return std::unique_ptr<Buffer>();
  return staging;
}

Result<Crossing> PlanEdges::Converted(Way way, uint64_t size_bytes) {
  Crossing crossing{.way = way};
  HEARTH_ASSIGN(crossing.memory, Staging(size_bytes));
  HEARTH_ASSIGN(std::unique_ptr<Buffer> on_device, device().CreateBuffer(size_bytes));
  (crossing.memory == nullptr ? crossing.memory : crossing.on_device) = std::move(on_device);
  crossing.visible = {crossing.memory.get(), 0, size_bytes};
  return crossing;
}

Result<Crossing> PlanEdges::PrepareOne(Side side, SlotKind kind, Edge& edge) {
  if (!edge.tensor->on_device) return Crossing();
  if (kind == SlotKind::kInFlight && std::holds_alternative<Borrowed>(edge.bound))
    return Crossing{.way = Way::kBorrowed};
  if (const auto* framed = std::get_if<Framed>(&edge.bound)) return Converted(Way::kFrame, framed->input->size_bytes());
  if (IsConverted(edge)) {
    HEARTH_TRY(MakeOwnKernel(side, edge));
    return Converted(Way::kDense, CrossingBytes(edge.tensor->transfer));
  }
  const BoundRange inner = InArena(edge);
  Crossing crossing{.way = Way::kStaged};
  HEARTH_ASSIGN(crossing.memory, Staging(inner.size_bytes));
  if (crossing.memory == nullptr && kind == SlotKind::kAlone) return Crossing{.way = Way::kArena, .visible = inner};
  if (crossing.memory == nullptr) {
    crossing.way = Way::kCopied;
    HEARTH_TRY(MakeOwnKernel(side, edge));
    HEARTH_ASSIGN(crossing.memory, device().CreateBuffer(inner.size_bytes));
  }
  crossing.visible = {crossing.memory.get(), 0, inner.size_bytes};
  return crossing;
}

Result<Crossings> PlanEdges::Prepare(Side side, SlotKind kind) {
  Crossings crossings;
  for (Edge& edge : EdgesOf(side)) {
    HEARTH_ASSIGN(crossings.emplace_back(), PrepareOne(side, kind, edge));
  }
  return crossings;
}

// ---- Commands ----

void PlanEdges::RecordKernel(Side side, const Edge& edge, const EdgeKernel& kernel, std::vector<BoundRange> outer,
                             CommandRecorder& recorder) const {
  const bool is_output = side == Side::kOutput;
  std::vector<bool> writes(outer.size(), is_output);
  outer.insert(is_output ? outer.begin() : outer.end(), InArena(edge));
  writes.insert(is_output ? writes.begin() : writes.end(), !is_output);
  recorder.Record({kernel.program, std::move(outer), kernel.kernel.scalars, kernel.kernel.group_count,
                   fmt::format("{} '{}'", is_output ? "output" : "input", edge.tensor->name)},
                  writes);
}

void PlanEdges::RecordConverted(Side side, const Edge& edge, const Crossing& crossing,
                                CommandRecorder& recorder) const {
  const BoundRange& outside = crossing.visible;
  const bool is_staged = crossing.on_device != nullptr;
  const BoundRange inside = is_staged ? BoundRange{crossing.on_device.get(), 0, outside.size_bytes} : outside;
  if (is_staged && side == Side::kInput) recorder.Record(CopyCommand{outside, inside});
  if (crossing.way == Way::kFrame) {
    const auto& framed = std::get<Framed>(edge.bound);
    RecordKernel(side, edge, {framed.input->kernel(), framed.program}, framed.input->RangesIn(*inside.buffer),
                 recorder);
  } else {
    RecordKernel(side, edge, edge.own, {inside}, recorder);
  }
  if (is_staged && side == Side::kOutput) recorder.Record(CopyCommand{inside, outside});
}

void PlanEdges::Record(Side side, const Crossings& crossings, CommandRecorder& recorder) const {
  for (size_t k = 0; k < crossings.size(); ++k) {
    const Edge& edge = EdgesOf(side)[k];
    const Crossing& crossing = crossings[k];
    switch (crossing.way) {
      case Way::kNone:
      case Way::kArena: break;
      case Way::kCopied:
      case Way::kDense:
      case Way::kFrame: RecordConverted(side, edge, crossing, recorder); break;
      case Way::kStaged:
        recorder.Record(side == Side::kOutput ? CopyCommand{InArena(edge), crossing.visible}
                                              : CopyCommand{crossing.visible, InArena(edge)});
        break;
      case Way::kBorrowed: {
        const auto& borrowed = std::get<Borrowed>(edge.bound);
        std::vector<BoundRange> outer = {{borrowed.buffer.get(), 0, borrowed.buffer->size_bytes()}};
        if (borrowed.table != nullptr) outer.push_back({borrowed.table.get(), 0, borrowed.table->size_bytes()});
        RecordKernel(side, edge, borrowed.kernel, std::move(outer), recorder);
        break;
      }
    }
  }
}

// ---- Transfers ----

Status PlanEdges::Upload(const Crossings& crossings, std::span<const std::span<const std::byte>> inputs,
                         TransferCounts& counts) const {
  for (size_t k = 0; k < crossings.size(); ++k) {
    const auto& [way, visible, memory, on_device] = crossings[k];
    const Edge& edge = EdgesOf(Side::kInput)[k];
    if (visible.buffer == nullptr) continue;
    if (way == Way::kFrame) {
      HEARTH_TRY(FrameToDevice(device(), visible, *std::get<Framed>(edge.bound).input, counts));
    } else {
      HEARTH_TRY(ToDevice(device(), visible, edge.tensor->transfer, inputs[k], counts, way == Way::kDense));
    }
  }
  return Status::Ok();
}

Status PlanEdges::Download(const Crossings& crossings, std::span<const std::span<std::byte>> outputs,
                           TransferCounts& counts) const {
  for (size_t k = 0; k < crossings.size(); ++k) {
    const Crossing& crossing = crossings[k];
    if (crossing.visible.buffer == nullptr) continue;
    HEARTH_TRY(FromDevice(device(), crossing.visible, EdgesOf(Side::kOutput)[k].tensor->transfer, outputs[k], counts,
                          crossing.way == Way::kDense));
  }
  return Status::Ok();
}

}  // namespace hearth
