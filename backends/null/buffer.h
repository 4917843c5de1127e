// Host memory in place of a device's: its own or the caller's.
#ifndef HEARTH_BACKENDS_NULL_BUFFER_H_
#define HEARTH_BACKENDS_NULL_BUFFER_H_

#include <memory>
#include <span>

#include "hal/device.h"

namespace hearth {

class NullBuffer final : public Buffer {
 public:
  // Zero-filled. kResourceExhausted if the host has no memory left.
  static Result<std::unique_ptr<Buffer>> Create(uint64_t size_bytes);
  // The caller's memory; the handle is its address.
  static std::unique_ptr<Buffer> Import(const NativeMemory& memory);

  std::span<std::byte> bytes() { return {address_, size_bytes()}; }
  std::span<const std::byte> bytes() const { return {address_, size_bytes()}; }

 private:
  NullBuffer(uint64_t size_bytes, std::unique_ptr<std::byte[]> memory)
      : Buffer(size_bytes), memory_(std::move(memory)), address_(memory_.get()) {}
  NullBuffer(uint64_t size_bytes, std::byte* address) : Buffer(size_bytes), address_(address) {}

  std::unique_ptr<std::byte[]> memory_;  // null when imported
  std::byte* address_;
};

}  // namespace hearth

#endif  // HEARTH_BACKENDS_NULL_BUFFER_H_
