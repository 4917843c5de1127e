// Device memory as a cl_mem, and the views of it that kernels use.
#ifndef HEARTH_BACKENDS_OPENCL_BUFFER_H_
#define HEARTH_BACKENDS_OPENCL_BUFFER_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "backends/opencl/driver_api.h"
#include "core/emit/kernel_source.h"
#include "hal/device/device.h"

namespace hearth {

// Commands around the kernels that read memory which other drivers use too; null for any other memory.
using OpenClTurn = clEnqueueAcquireExternalMemObjectsKHR_fn;
struct OpenClTurns {
  OpenClTurn acquire = nullptr, release = nullptr;
};

// A cl_mem and the views of it that kernels get: the whole, sub-buffers, and for texel reads one-dimensional images
// over either. Shared by the buffer and the command lists that read it, because clSetKernelArg keeps no memory alive:
// PoCL 3.1 aborts if a buffer is released before a kernel that has it as an argument. Thread-safe.
class OpenClMemory {
 public:
  explicit OpenClMemory(MemoryHandle whole) : whole_(std::move(whole)) {}
  // Releases the newest view first. NVIDIA's driver (580.159.04, H100) ended the process where overlapping sub-buffers,
  // used by kernels, were released in another order: 60 of 1,063 seeded orders; none of 519 orders like this one.
  ~OpenClMemory();
  OpenClMemory(const OpenClMemory&) = delete;
  OpenClMemory& operator=(const OpenClMemory&) = delete;

  cl_mem whole() const { return whole_.get(); }
  // The cl_mem for `range` of this memory as argument `arg`; equal ranges share one. kResourceExhausted for more texels
  // than the device supports, kUnavailable if the driver refuses.
  Result<cl_mem> View(const OpenClDriver& driver, const BoundRange& range, const TensorArg& arg);

 private:
  struct Key {
    uint64_t offset_bytes, size_bytes;
    std::optional<StorageType> texels;  // of an image
    auto operator<=>(const Key&) const = default;
  };

  Result<cl_mem> Find(const Key& key, const std::function<Result<MemoryHandle>()>& make);
  Result<cl_mem> WholeOrPart(const OpenClApi& api, const BoundRange& range);

  std::mutex mutex_;
  MemoryHandle whole_;
  std::vector<MemoryHandle> views_;  // in the order of their creation
  std::map<Key, cl_mem> found_;
};

class OpenClBuffer final : public Buffer {
 public:
  // `host_allocated` asks for memory that the host sees without a copy: right if host and device share memory, slow on
  // a card with its own. kResourceExhausted if the driver has no memory left.
  static Result<std::unique_ptr<Buffer>> Create(const OpenClDriver& driver, uint64_t size_bytes, bool host_allocated);

  // The caller's buffer, kept alive by a reference. kInvalidArgument if it is not a buffer, belongs to another context,
  // or is smaller than `size_bytes`.
  static Result<std::unique_ptr<Buffer>> Import(const OpenClDriver& driver, cl_mem memory, uint64_t size_bytes);

  // A linear dma-buf. kUnsupported if the driver does not take it.
  static Result<std::unique_ptr<Buffer>> ImportDmaBuf(const OpenClDriver& driver, const NativeMemory& memory);

  cl_mem memory() const { return memory_->whole(); }
  const std::shared_ptr<OpenClMemory>& shared_memory() const { return memory_; }
  uint64_t native_handle() const override { return reinterpret_cast<uintptr_t>(memory()); }
  const OpenClTurns& turns() const { return turns_; }

 private:
  OpenClBuffer(uint64_t size_bytes, MemoryHandle memory)
      : Buffer(size_bytes), memory_(std::make_shared<OpenClMemory>(std::move(memory))) {}

  std::shared_ptr<OpenClMemory> memory_;
  OpenClTurns turns_;
};

}  // namespace hearth

#endif  // HEARTH_BACKENDS_OPENCL_BUFFER_H_
