#include "hal/device/device.h"

#include "core/base/error.h"
#include "core/emit/kernel_limits.h"
#include "hal/device/driver_isolation.h"

namespace hearth {
namespace {

Status CheckRange(const Buffer& buffer, uint64_t offset_bytes, uint64_t size_bytes) {
  if (size_bytes > buffer.size_bytes() || offset_bytes > buffer.size_bytes() - size_bytes) {
    return Error(StatusCode::kInvalidArgument, "bytes {}+{} lie outside a buffer of {} bytes", offset_bytes, size_bytes,
                 buffer.size_bytes());
  }
  return Status::Ok();
}

Status CheckHostAccess(const Buffer& buffer, uint64_t offset_bytes, uint64_t size_bytes) {
  if (buffer.is_texture()) return Error(StatusCode::kUnsupported, "a lent texture is not copied through the host");
  return CheckRange(buffer, offset_bytes, size_bytes);
}

// A texture is bound as a whole, to an argument that takes textures.
Status CheckTexture(const BoundRange& range, const TensorArg& arg) {
  const bool as_texture = arg.path == AccessPath::kTexture;
  if (range.buffer->is_texture() != as_texture) {
    return Error(StatusCode::kInvalidArgument, "argument '{}' takes {}, but gets {}", arg.name,
                 as_texture ? "a texture" : "a buffer", as_texture ? "a buffer" : "a texture");
  }
  if (as_texture && (range.offset_bytes != 0 || range.size_bytes != range.buffer->size_bytes())) {
    return Error(StatusCode::kInvalidArgument, "argument '{}' gets a part of a texture", arg.name);
  }
  return Status::Ok();
}

Status CheckDispatch(const DispatchCommand& dispatch, const DeviceInfo& info) {
  if (dispatch.program == nullptr)
    return Error(StatusCode::kInvalidArgument, "dispatch '{}' has no program", dispatch.label);
  const KernelSource& source = dispatch.program->source();
  if (dispatch.tensors.size() != source.tensors.size() || dispatch.scalars.size() != source.scalars.size()) {
    return Error(StatusCode::kInvalidArgument,
                 "dispatch '{}' of kernel {} has {} tensors and {} scalars, the kernel takes {} and {}", dispatch.label,
                 source.name, dispatch.tensors.size(), dispatch.scalars.size(), source.tensors.size(),
                 source.scalars.size());
  }
  const auto& groups = dispatch.group_count;
  HEARTH_TRY(CheckGroupLimits(source, {groups[0], groups[1], groups[2]}, info).Within(dispatch.label));
  for (size_t k = 0; k < dispatch.tensors.size(); ++k) {
    const BoundRange& range = dispatch.tensors[k];
    if (range.buffer == nullptr)
      return Error(StatusCode::kInvalidArgument, "dispatch '{}' has an unbound tensor", dispatch.label);
    HEARTH_TRY(CheckTexture(range, source.tensors[k]).Within(dispatch.label));
    HEARTH_TRY(CheckRange(*range.buffer, range.offset_bytes, range.size_bytes).Within(dispatch.label));
    HEARTH_TRY(CheckBindingLimit(source, source.tensors[k], range.size_bytes, info).Within(dispatch.label));
    if (range.offset_bytes % info.buffer_offset_alignment != 0 || range.size_bytes == 0) {
      return Error(StatusCode::kInvalidArgument,
                   "dispatch '{}': offset {} is not a multiple of {}, or the range is empty", dispatch.label,
                   range.offset_bytes, info.buffer_offset_alignment);
    }
  }
  return Status::Ok();
}

Status CheckCopy(const CopyCommand& copy) {
  const auto& [from, to] = copy;
  if (from.buffer == nullptr || to.buffer == nullptr)
    return Error(StatusCode::kInvalidArgument, "a copy has no memory to read or to write");
  HEARTH_TRY(CheckHostAccess(*from.buffer, from.offset_bytes, from.size_bytes));
  HEARTH_TRY(CheckHostAccess(*to.buffer, to.offset_bytes, to.size_bytes));
  const bool is_aligned = (from.offset_bytes | to.offset_bytes | from.size_bytes) % 4 == 0;
  if (from.size_bytes == to.size_bytes && from.size_bytes != 0 && is_aligned) return Status::Ok();
  return Error(StatusCode::kInvalidArgument, "a copy of {} bytes at {} to {} bytes at {}", from.size_bytes,
               from.offset_bytes, to.size_bytes, to.offset_bytes);
}

Status CheckBuild(std::span<const KernelSource> sources, const DeviceInfo& info) {
  for (const KernelSource& source : sources) HEARTH_TRY(CheckKernelLimits(source, info));
  return CheckNoNewLlvm(info.backend);
}

// Drivers report a refused program by many codes; callers get one.
Result<std::unique_ptr<ProgramGroup>> WithOneCode(Result<std::unique_ptr<ProgramGroup>> group, bool is_binary) {
  const Status status = group.status();
  switch (status.code()) {
    case StatusCode::kOk:
    case StatusCode::kResourceExhausted:
    case StatusCode::kDeviceLost: return group;
    case StatusCode::kMalformedInput:
      if (is_binary) return group;
      [[fallthrough]];
    default: return Status(StatusCode::kUnavailable, status.message());
  }
}

}  // namespace

Status Executable::Run() {
  HEARTH_ASSIGN(const uint64_t submission, Submit());
  return Wait(submission);
}

Result<std::unique_ptr<Buffer>> Device::CreateBuffer(uint64_t size_bytes) {
  if (size_bytes == 0) return Error(StatusCode::kInvalidArgument, "a buffer of 0 bytes was requested");
  if (size_bytes > info_.max_buffer_bytes) {
    return Error(StatusCode::kResourceExhausted, "a buffer of {} bytes was requested; {} allows at most {}", size_bytes,
                 info_.name, info_.max_buffer_bytes);
  }
  return DoCreateBuffer(size_bytes);
}

Result<std::unique_ptr<Buffer>> Device::CreateStaging(uint64_t size_bytes) {
  if (size_bytes == 0 || size_bytes > info_.max_buffer_bytes) {
    return Error(size_bytes == 0 ? StatusCode::kInvalidArgument : StatusCode::kResourceExhausted,
                 "a staging buffer of {} bytes was requested; {} allows 1 to {}", size_bytes, info_.name,
                 info_.max_buffer_bytes);
  }
  return DoCreateStaging(size_bytes);
}

Result<std::unique_ptr<Buffer>> Device::DoCreateStaging(uint64_t /*size_bytes*/) {
  return Error(StatusCode::kUnsupported, "{} has no staging buffers", info_.backend);
}

Result<std::unique_ptr<Buffer>> Device::ImportBuffer(const NativeMemory& memory) {
  if (memory.handle == 0) return Error(StatusCode::kInvalidArgument, "the handle to import is 0");
  if (memory.kind == MemoryKind::kGlTexture) {
    if (memory.width == 0 || memory.height == 0)
      return Error(StatusCode::kInvalidArgument, "a texture of {}x{} texels was lent", memory.width, memory.height);
  } else if (memory.size_bytes == 0 || memory.size_bytes > info_.max_buffer_bytes) {
    return Error(StatusCode::kInvalidArgument, "a buffer of {} bytes was lent; {} allows 1 to {}", memory.size_bytes,
                 info_.name, info_.max_buffer_bytes);
  }
  return DoImportBuffer(memory);
}

Status Device::Write(Buffer& buffer, uint64_t offset_bytes, uint64_t size_bytes,
                     const std::function<Status(std::span<std::byte>)>& fill) {
  HEARTH_TRY(CheckHostAccess(buffer, offset_bytes, size_bytes));
  if (size_bytes == 0) return Status::Ok();
  return DoWrite(buffer, offset_bytes, size_bytes, fill);
}

Status Device::Read(const Buffer& buffer, uint64_t offset_bytes, uint64_t size_bytes,
                    const std::function<Status(std::span<const std::byte>)>& view) {
  HEARTH_TRY(CheckHostAccess(buffer, offset_bytes, size_bytes));
  if (size_bytes == 0) return Status::Ok();
  return DoRead(buffer, offset_bytes, size_bytes, view);
}

Result<std::unique_ptr<ProgramGroup>> Device::Compile(std::span<const KernelSource> sources) {
  if (sources.empty()) return Error(StatusCode::kInvalidArgument, "no kernel to compile was given");
  HEARTH_TRY(CheckBuild(sources, info_));
  return WithOneCode(DoCompile(sources), false);
}

Result<std::unique_ptr<ProgramGroup>> Device::Load(std::span<const KernelSource> sources,
                                                   std::span<const std::byte> binary) {
  if (sources.empty() || binary.empty())
    return Error(StatusCode::kInvalidArgument, "an empty binary, or no kernel, was given to load");
  HEARTH_TRY(CheckBuild(sources, info_));
  return WithOneCode(DoLoad(sources, binary), true);
}

Result<std::unique_ptr<ProgramGroup>> Device::LoadParts(std::span<const KernelSource> sources,
                                                        std::span<const std::byte> portable,
                                                        std::span<const std::byte> driver_part) {
  if (sources.empty() || portable.empty() || driver_part.empty())
    return Error(StatusCode::kInvalidArgument, "an empty part of a binary, or no kernel, was given to load");
  HEARTH_TRY(CheckBuild(sources, info_));
  return WithOneCode(DoLoadParts(sources, portable, driver_part), true);
}

Result<std::unique_ptr<ProgramGroup>> Device::DoLoadParts(std::span<const KernelSource>, std::span<const std::byte>,
                                                          std::span<const std::byte>) {
  return Error(StatusCode::kUnsupported, "binaries of {} have no parts", info_.backend);
}

Result<std::unique_ptr<Executable>> Device::Prepare(const CommandList& commands) {
  for (const Command& command : commands.commands) {
    if (const auto* dispatch = std::get_if<DispatchCommand>(&command)) HEARTH_TRY(CheckDispatch(*dispatch, info_));
    if (const auto* copy = std::get_if<CopyCommand>(&command)) HEARTH_TRY(CheckCopy(*copy));
  }
  return DoPrepare(commands);
}

DeviceCandidate CandidateOf(const DeviceInfo& info, std::string unusable_reason, int driver_index) {
  return {.backend = info.backend,
          .name = info.name,
          .driver = info.driver_version,
          .type = info.type,
          .usable = unusable_reason.empty(),
          .unusable_reason = std::move(unusable_reason),
          .driver_index = driver_index};
}

}  // namespace hearth
