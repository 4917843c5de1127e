// Device memory as a cl_mem, and the parts of it that kernels use.
#ifndef HEARTH_BACKENDS_OPENCL_BUFFER_H_
#define HEARTH_BACKENDS_OPENCL_BUFFER_H_

#include <cstdint>
#include <memory>

#include "backends/opencl/driver_api.h"
#include "core/emit/kernel_source.h"
#include "hal/device/device.h"

namespace hearth {

// Commands around the kernels that read memory which other drivers use too; null for any other memory.
using OpenClTurn = clEnqueueAcquireExternalMemObjectsKHR_fn;
struct OpenClTurns {
  OpenClTurn acquire = nullptr, release = nullptr;
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

  cl_mem memory() const { return memory_.get(); }
  uint64_t native_handle() const override { return reinterpret_cast<uintptr_t>(memory()); }
  const OpenClTurns& turns() const { return turns_; }

 private:
  OpenClBuffer(uint64_t size_bytes, MemoryHandle memory) : Buffer(size_bytes), memory_(std::move(memory)) {}

  MemoryHandle memory_;
  OpenClTurns turns_;
};

// The cl_mem that a kernel gets for `range` as argument `arg`: the whole buffer (with one more reference), a
// sub-buffer, or for texel reads a one-dimensional image over either. It keeps the memory alive, which clSetKernelArg
// does not: PoCL 3.1 aborts if a buffer is released before a kernel that has it as an argument. kResourceExhausted for
// more texels than the device supports.
class OpenClView {
 public:
  static Result<OpenClView> Create(const OpenClDriver& driver, const BoundRange& range, const TensorArg& arg);

  cl_mem argument() const { return image_.get() != nullptr ? image_.get() : memory_.get(); }

 private:
  explicit OpenClView(MemoryHandle memory) : memory_(std::move(memory)) {}

  MemoryHandle memory_;
  MemoryHandle image_;
};

}  // namespace hearth

#endif  // HEARTH_BACKENDS_OPENCL_BUFFER_H_
