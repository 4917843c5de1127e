#include "backends/gles/buffer.h"

#include "core/base/error.h"

namespace hearth::gles {
namespace {

// Maps a range of `id`, calls `use` with its address and unmaps it. Runs on the context's thread.
template <typename Use>
Status WithMapping(const Context& context, GLuint id, uint64_t offset_bytes, uint64_t size_bytes, GLbitfield access,
                   std::string_view what, const Use& use) {
  glBindBuffer(GL_SHADER_STORAGE_BUFFER, id);
  void* memory = glMapBufferRange(GL_SHADER_STORAGE_BUFFER, static_cast<GLintptr>(offset_bytes),
                                  static_cast<GLsizeiptr>(size_bytes), access);
  if (memory == nullptr) {
    HEARTH_TRY(context.Check(what));
    return Error(StatusCode::kResourceExhausted, "the driver could not map {} bytes while {}", size_bytes, what);
  }
  Status used = use(memory);
  // Bound again, in case the callback used the device against its contract.
  glBindBuffer(GL_SHADER_STORAGE_BUFFER, id);
  const bool intact = glUnmapBuffer(GL_SHADER_STORAGE_BUFFER) == GL_TRUE;
  glBindBuffer(GL_SHADER_STORAGE_BUFFER, 0);
  const Status errors = context.Check(what);
  HEARTH_TRY(used);
  HEARTH_TRY(errors);
  if (!intact) return Error(StatusCode::kDeviceLost, "the driver lost a buffer's contents while {}", what);
  return Status::Ok();
}

}  // namespace

Result<std::unique_ptr<GlesBuffer>> GlesBuffer::Create(Context& context, uint64_t size_bytes) {
  std::unique_ptr<GlesBuffer> buffer(new GlesBuffer(context, size_bytes));
  const auto create = [&]() -> Status {
    glGenBuffers(1, &buffer->id_);
    glBindBuffer(GL_SHADER_STORAGE_BUFFER, buffer->id_);
    glBufferData(GL_SHADER_STORAGE_BUFFER, static_cast<GLsizeiptr>(size_bytes), nullptr, GL_DYNAMIC_COPY);
    glBindBuffer(GL_SHADER_STORAGE_BUFFER, 0);
    return context.Check(fmt::format("making a buffer of {} bytes", size_bytes));
  };
  HEARTH_TRY(context.OnThread(create));
  return buffer;
}

Result<std::unique_ptr<GlesBuffer>> GlesBuffer::Import(Context& context, const NativeMemory& memory) {
  const auto id = static_cast<GLuint>(memory.handle);
  const auto check = [&]() -> Status {
    if (id != memory.handle || glIsBuffer(id) != GL_TRUE) {
      return Error(StatusCode::kInvalidArgument,
                   "there is no buffer {} in the session's share group (SessionOptions::shared)", memory.handle);
    }
    GLint64 size_bytes = 0;
    glBindBuffer(GL_SHADER_STORAGE_BUFFER, id);
    glGetBufferParameteri64v(GL_SHADER_STORAGE_BUFFER, GL_BUFFER_SIZE, &size_bytes);
    glBindBuffer(GL_SHADER_STORAGE_BUFFER, 0);
    HEARTH_TRY(context.Check("examining a lent buffer"));
    if (static_cast<uint64_t>(size_bytes) >= memory.size_bytes) return Status::Ok();
    return Error(StatusCode::kInvalidArgument, "buffer {} has {} bytes, but the binding says {}", id, size_bytes,
                 memory.size_bytes);
  };
  HEARTH_TRY(context.OnThread(check));
  std::unique_ptr<GlesBuffer> buffer(new GlesBuffer(context, memory.size_bytes));
  buffer->id_ = id;
  buffer->is_owned_ = false;
  return buffer;
}

GlesBuffer::~GlesBuffer() {
  if (!is_owned_) return;
  context_.OnThread([this] { glDeleteBuffers(1, &id_); });
}

Status GlesBuffer::Write(uint64_t offset_bytes, uint64_t size_bytes,
                         const std::function<Status(std::span<std::byte>)>& fill) {
  // Constants fill whole buffers and, where they are packed in place, are read where they were written (README.md).
  const bool is_whole = offset_bytes == 0 && size_bytes == this->size_bytes();
  const bool may_be_read = is_whole && context_.facts().info.is_read_fast_by_host();
  const GLbitfield access = GL_MAP_WRITE_BIT | (may_be_read ? GL_MAP_READ_BIT : GL_MAP_INVALIDATE_RANGE_BIT);
  return context_.OnThread([&] {
    return WithMapping(context_, id_, offset_bytes, size_bytes, access, "writing a buffer", [&](void* memory) {
      return fill({static_cast<std::byte*>(memory), static_cast<size_t>(size_bytes)});
    });
  });
}

Status GlesBuffer::Read(uint64_t offset_bytes, uint64_t size_bytes,
                        const std::function<Status(std::span<const std::byte>)>& view) const {
  return context_.OnThread([&] {
    return WithMapping(context_, id_, offset_bytes, size_bytes, GL_MAP_READ_BIT, "reading a buffer", [&](void* memory) {
      return view({static_cast<const std::byte*>(memory), static_cast<size_t>(size_bytes)});
    });
  });
}

}  // namespace hearth::gles
