#include "backends/null/device.h"

#include <new>
#include <string>
#include <string_view>

#include "backends/null/backend.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "core/plan/plan.h"
#include "hal/device/entry_points.h"

namespace hearth {
namespace {

// --- host memory in place of a device's

class NullBuffer final : public Buffer {
 public:
  NullBuffer(std::unique_ptr<std::byte[]> zeros, uint64_t size_bytes)
      : Buffer(size_bytes), memory_(std::move(zeros)), address_(memory_.get()) {}
  // The caller's memory; the handle is its address.
  explicit NullBuffer(const NativeMemory& memory)
      : Buffer(memory.size_bytes), address_(reinterpret_cast<std::byte*>(static_cast<uintptr_t>(memory.handle))) {}

  std::span<std::byte> bytes() const { return {address_, size_bytes()}; }

 private:
  std::unique_ptr<std::byte[]> memory_;  // null when imported
  std::byte* address_;
};

// --- kernels that are checked and kept, not compiled

// Checks the only thing that needs no driver: that the brackets of a text are in pairs.
bool BracketsMatch(std::string_view text) {
  std::string open;
  for (const char c : text) {
    constexpr std::string_view kOpening = "([{", kClosing = ")]}";
    if (kOpening.find(c) != std::string_view::npos) open.push_back(c);
    const size_t closing = kClosing.find(c);
    if (closing == std::string_view::npos) continue;
    if (open.empty() || open.back() != kOpening[closing]) return false;
    open.pop_back();
  }
  return open.empty();
}

class NullProgramGroup final : public ProgramGroup {
 public:
  // kUnavailable for a kernel whose brackets are not in pairs.
  static Result<std::unique_ptr<ProgramGroup>> Compile(std::span<const KernelSource> sources) {
    auto group = std::make_unique<NullProgramGroup>();
    for (const KernelSource& source : sources) {
      if (!BracketsMatch(source.body))
        return Error(StatusCode::kUnavailable, "kernel {}: its brackets are unbalanced", source.name);
      group->entry_points_ += EntryPoint(source) + '\n';
      group->programs_.push_back(std::make_unique<Program>(source));
    }
    return group;
  }

  // kMalformedInput unless `binary` is what Binary() gave for these sources, or for more.
  static Result<std::unique_ptr<ProgramGroup>> Load(std::span<const KernelSource> sources,
                                                    std::span<const std::byte> binary) {
    HEARTH_ASSIGN(std::unique_ptr<ProgramGroup> group, Compile(sources));
    HEARTH_ASSIGN(const std::vector<std::byte> expected, group->Binary());
    if (!HoldsLines(TextFrom(binary), TextFrom(expected)))
      return Error(StatusCode::kMalformedInput, "the binary was made for other kernels");
    return group;
  }

  std::span<const std::unique_ptr<Program>> programs() const override { return programs_; }
  // The entry points, one per line: enough to test a cache.
  Result<std::vector<std::byte>> Binary() override {
    const std::span<const std::byte> bytes = BytesOf(entry_points_);
    return std::vector<std::byte>(bytes.begin(), bytes.end());
  }

 private:
  std::string entry_points_;
  std::vector<std::unique_ptr<Program>> programs_;
};

// --- command lists that are checked for races and then only counted

bool Race(const DispatchCommand& a, const DispatchCommand& b) {
  for (size_t i = 0; i < a.tensors.size(); ++i) {
    for (size_t j = 0; j < b.tensors.size(); ++j) {
      const bool written = a.program->source().tensors[i].direction == ArgDirection::kWrite ||
                           b.program->source().tensors[j].direction == ArgDirection::kWrite;
      if (written && Overlap(a.tensors[i], b.tensors[j])) return true;
    }
  }
  return false;
}

class NullExecutable final : public Executable {
 public:
  // kInternal if a dispatch touches bytes that another one writes and no barrier is between them. Drivers that run
  // dispatches in order hide such a race. Each submission adds to `dispatches_run` and is finished at once.
  static Result<std::unique_ptr<Executable>> Create(const CommandList& commands, NullCounts& counts) {
    int64_t dispatch_count = 0;
    std::vector<const DispatchCommand*> since_barrier;
    for (const Command& command : commands.commands) {
      if (std::holds_alternative<CopyCommand>(command))
        return Error(StatusCode::kUnsupported, "the null device has no staging buffers");
      const auto* dispatch = std::get_if<DispatchCommand>(&command);
      if (dispatch == nullptr) {
        since_barrier.clear();
        continue;
      }
      for (const DispatchCommand* earlier : since_barrier) {
        if (Race(*earlier, *dispatch)) {
          return Error(StatusCode::kInternal, "dispatches '{}' and '{}' race: there is no barrier between them",
                       earlier->label, dispatch->label);
        }
      }
      since_barrier.push_back(dispatch);
      ++dispatch_count;
    }
    return std::make_unique<NullExecutable>(dispatch_count, counts);
  }
  NullExecutable(int64_t dispatch_count, NullCounts& counts) : dispatch_count_(dispatch_count), counts_(counts) {}

  // kUnsupported with any synchronization.
  Result<uint64_t> Submit(const SubmitSync& sync) override {
    if (!sync.wait_for.empty() || !sync.signal.empty() || sync.fence != nullptr)
      return Error(StatusCode::kUnsupported, "the null device has nothing to synchronize with");
    HEARTH_TRY(counts_.wait_limit.Check());
    counts_.dispatches_run += dispatch_count_;
    return ++counts_.submissions;
  }

  // kInvalidArgument for a number that was never submitted.
  Status Wait(uint64_t submission) override {
    if (submission <= counts_.submissions) {
      if (submission < counts_.endless_from) return Status::Ok();
      if (counts_.wait_limit.is_set()) return counts_.wait_limit.Over();
      return Error(StatusCode::kInternal, "submission {} never ends, and there is no limit", submission);
    }
    return Error(StatusCode::kInvalidArgument, "there is no submission {}; the last is {}", submission,
                 counts_.submissions.load());
  }

  // All zero.
  Result<std::vector<double>> RunProfiled() override {
    HEARTH_TRY(Run());
    return std::vector<double>(static_cast<size_t>(dispatch_count_), 0.0);
  }

 private:
  int64_t dispatch_count_;
  NullCounts& counts_;
};

}  // namespace

DeviceInfo NullDeviceInfo() {
  DeviceInfo info;
  info.backend = "null";
  info.name = "null";
  info.vendor = "Hearth";
  info.driver_version = "1";
  info.max_local_size = {1024, 1024, 64};
  info.max_local_invocations = 1024;
  info.max_buffer_bytes = info.max_binding_bytes = uint64_t{1} << 32;
  info.max_texel_elements = 1u << 27;
  info.max_storage_buffers = 32;
  info.fp16_storage = info.fp16_arithmetic = true;
  info.unified_memory = true;
  return info;
}

Result<std::unique_ptr<Buffer>> NullDevice::DoCreateBuffer(uint64_t size_bytes) {
  ++counts_.buffers_created;
  std::unique_ptr<std::byte[]> zeros(new (std::nothrow) std::byte[size_bytes]());
  if (zeros == nullptr) return Error(StatusCode::kResourceExhausted, "no host memory for {} bytes", size_bytes);
  return std::make_unique<NullBuffer>(std::move(zeros), size_bytes);
}

Result<std::unique_ptr<Buffer>> NullDevice::DoImportBuffer(const NativeMemory& memory) {
  if (memory.kind != MemoryKind::kHost)
    return Error(StatusCode::kUnsupported, "the null device imports only host memory");
  ++counts_.buffers_imported;
  return std::make_unique<NullBuffer>(memory);
}

Status NullDevice::DoWrite(Buffer& buffer, uint64_t offset_bytes, uint64_t size_bytes,
                           const std::function<Status(std::span<std::byte>)>& fill) {
  counts_.bytes_written += static_cast<int64_t>(size_bytes);
  return fill(static_cast<NullBuffer&>(buffer).bytes().subspan(offset_bytes, size_bytes));
}

Status NullDevice::DoRead(const Buffer& buffer, uint64_t offset_bytes, uint64_t size_bytes,
                          const std::function<Status(std::span<const std::byte>)>& view) {
  counts_.bytes_read += static_cast<int64_t>(size_bytes);
  return view(static_cast<const NullBuffer&>(buffer).bytes().subspan(offset_bytes, size_bytes));
}

Result<std::unique_ptr<ProgramGroup>> NullDevice::DoCompile(std::span<const KernelSource> sources) {
  Result<std::unique_ptr<ProgramGroup>> group = NullProgramGroup::Compile(sources);
  if (group.ok()) counts_.programs_compiled += static_cast<int64_t>(sources.size());
  return group;
}

Result<std::unique_ptr<ProgramGroup>> NullDevice::DoLoad(std::span<const KernelSource> sources,
                                                         std::span<const std::byte> binary) {
  Result<std::unique_ptr<ProgramGroup>> group = NullProgramGroup::Load(sources, binary);
  if (group.ok()) counts_.programs_loaded += static_cast<int64_t>(sources.size());
  return group;
}

Result<std::unique_ptr<Executable>> NullDevice::DoPrepare(const CommandList& commands) {
  ++counts_.lists_prepared;
  return NullExecutable::Create(commands, counts_);
}

std::vector<DeviceCandidate> EnumerateNull() {
  return {CandidateOf(NullDeviceInfo(), "", 0)};
}

Result<std::unique_ptr<Device>> OpenNull(const DeviceCandidate&) {
  return std::make_unique<NullDevice>(NullDeviceInfo());
}

}  // namespace hearth
