#include "backends/gles/device.h"

#include "backends/gles/buffer.h"
#include "backends/gles/executable.h"
#include "backends/gles/program.h"
#include "backends/gles/texture.h"
#include "core/base/error.h"

namespace hearth::gles {

Result<std::unique_ptr<Buffer>> GlesDevice::DoCreateBuffer(uint64_t size_bytes) {
  HEARTH_ASSIGN(std::unique_ptr<Buffer> buffer, GlesBuffer::Create(*context_, size_bytes));
  return buffer;
}

Result<std::unique_ptr<Buffer>> GlesDevice::DoImportBuffer(const NativeMemory& memory) {
  if (memory.kind == MemoryKind::kGlTexture || IsExternal(memory.kind)) {
    const auto import = IsExternal(memory.kind) ? GlesTexture::ImportExternal : GlesTexture::Import;
    HEARTH_ASSIGN(std::unique_ptr<Buffer> texture, import(*context_, memory));
    return texture;
  }
  if (memory.kind != MemoryKind::kGlBuffer)
    return Error(StatusCode::kUnsupported,
                 "OpenGL ES imports only GL buffers, GL textures, dma-bufs and AHardwareBuffers");
  HEARTH_ASSIGN(std::unique_ptr<Buffer> buffer, GlesBuffer::Import(*context_, memory));
  return buffer;
}

Status GlesDevice::DoWrite(Buffer& buffer, uint64_t offset_bytes, uint64_t size_bytes,
                           const std::function<Status(std::span<std::byte>)>& fill) {
  return static_cast<GlesBuffer&>(buffer).Write(offset_bytes, size_bytes, fill);
}

Status GlesDevice::DoRead(const Buffer& buffer, uint64_t offset_bytes, uint64_t size_bytes,
                          const std::function<Status(std::span<const std::byte>)>& view) {
  return static_cast<const GlesBuffer&>(buffer).Read(offset_bytes, size_bytes, view);
}

Result<std::unique_ptr<ProgramGroup>> GlesDevice::DoCompile(std::span<const KernelSource> sources) {
  HEARTH_ASSIGN(std::unique_ptr<ProgramGroup> group, GlesProgramGroup::Compile(*context_, sources));
  return group;
}

Result<std::unique_ptr<ProgramGroup>> GlesDevice::DoLoad(std::span<const KernelSource> sources,
                                                         std::span<const std::byte> binary) {
  HEARTH_ASSIGN(std::unique_ptr<ProgramGroup> group, GlesProgramGroup::Load(*context_, sources, binary));
  return group;
}

Result<std::unique_ptr<Executable>> GlesDevice::DoPrepare(const CommandList& commands) {
  HEARTH_ASSIGN(std::unique_ptr<Executable> executable, GlesExecutable::Prepare(*context_, commands));
  return executable;
}

}  // namespace hearth::gles
