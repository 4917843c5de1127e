#ifndef HEARTH_BACKENDS_GLES_BUFFER_H_
#define HEARTH_BACKENDS_GLES_BUFFER_H_

#include <memory>

#include "backends/gles/context.h"
#include "hal/device/device.h"

namespace hearth::gles {

// A GL buffer object, bound by executables as shader storage or under a buffer texture.
class GlesBuffer : public Buffer {
 public:
  // kResourceExhausted if the driver has no memory left.
  static Result<std::unique_ptr<GlesBuffer>> Create(Context& context, uint64_t size_bytes);
  // The caller's buffer from the share group. kInvalidArgument if no buffer has that name, or it is smaller.
  static Result<std::unique_ptr<GlesBuffer>> Import(Context& context, const NativeMemory& memory);
  ~GlesBuffer() override;

  GLuint id() const { return id_; }

  // Device::Write and Device::Read: map the range and call `fill` or `view` on the context's thread.
  Status Write(uint64_t offset_bytes, uint64_t size_bytes, const std::function<Status(std::span<std::byte>)>& fill);
  Status Read(uint64_t offset_bytes, uint64_t size_bytes,
              const std::function<Status(std::span<const std::byte>)>& view) const;

 private:
  GlesBuffer(Context& context, uint64_t size_bytes) : Buffer(size_bytes), context_(context) {}

  Context& context_;
  GLuint id_ = 0;
  bool is_owned_ = true;
};

}  // namespace hearth::gles

#endif  // HEARTH_BACKENDS_GLES_BUFFER_H_
