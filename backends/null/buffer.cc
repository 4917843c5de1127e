#include "backends/null/buffer.h"

#include <new>

#include "core/base/error.h"

namespace hearth {

Result<std::unique_ptr<Buffer>> NullBuffer::Create(uint64_t size_bytes) {
  std::unique_ptr<std::byte[]> memory(new (std::nothrow) std::byte[size_bytes]());
  if (memory == nullptr) return Error(StatusCode::kResourceExhausted, "no host memory for {} bytes", size_bytes);
  return std::unique_ptr<Buffer>(new NullBuffer(size_bytes, std::move(memory)));
}

std::unique_ptr<Buffer> NullBuffer::Import(const NativeMemory& memory) {
  auto* address = reinterpret_cast<std::byte*>(static_cast<uintptr_t>(memory.handle));
  return std::unique_ptr<Buffer>(new NullBuffer(memory.size_bytes, address));
}

}  // namespace hearth
