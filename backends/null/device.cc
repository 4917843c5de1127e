#include "backends/null/device.h"

#include "backends/null/buffer.h"
#include "backends/null/executable.h"
#include "backends/null/program.h"
#include "core/base/error.h"

namespace hearth {

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
  return NullBuffer::Create(size_bytes);
}

Result<std::unique_ptr<Buffer>> NullDevice::DoImportBuffer(const NativeMemory& memory) {
  if (memory.kind != MemoryKind::kHost)
    return Error(StatusCode::kUnsupported, "the null device imports only host memory");
  ++counts_.buffers_imported;
  return NullBuffer::Import(memory);
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

}  // namespace hearth
