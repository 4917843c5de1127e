// Host memory that stands for a device's.
#ifndef HEARTH_BACKENDS_NULL_BUFFER_H_
#define HEARTH_BACKENDS_NULL_BUFFER_H_

#include <memory>
#include <span>

#include "hal/device.h"

namespace hearth {

class NullBuffer final : public Buffer {
 public:
  // Zero-filled. kResourceExhausted when the host has no memory left.
  static Result<std::unique_ptr<Buffer>> Create(uint64_t size_bytes);

  std::span<std::byte> bytes() { return {memory_.get(), size_bytes()}; }
  std::span<const std::byte> bytes() const { return {memory_.get(), size_bytes()}; }

 private:
  NullBuffer(uint64_t size_bytes, std::unique_ptr<std::byte[]> memory)
      : Buffer(size_bytes), memory_(std::move(memory)) {}

  std::unique_ptr<std::byte[]> memory_;
};

}  // namespace hearth

#endif  // HEARTH_BACKENDS_NULL_BUFFER_H_
