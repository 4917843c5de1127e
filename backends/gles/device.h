#ifndef HEARTH_BACKENDS_GLES_DEVICE_H_
#define HEARTH_BACKENDS_GLES_DEVICE_H_

#include <memory>

#include "backends/gles/context.h"
#include "hal/device.h"

namespace hearth::gles {

// hal/device.h over one GL context. Every call may come from any thread. The work, and the callbacks of Write and Read,
// run on the context's own thread, one call after the other.
class GlesDevice : public Device {
 public:
  explicit GlesDevice(std::unique_ptr<Context> context) : Device(context->facts().info), context_(std::move(context)) {}
  ~GlesDevice() override { Context::Close(std::move(context_)); }

  bool takes_binaries() const override { return context_->facts().takes_binaries(); }

 private:
  void DoSetWaitLimit(std::chrono::nanoseconds limit) override { context_->submissions().wait_limit().Set(limit); }
  Result<std::unique_ptr<Buffer>> DoCreateBuffer(uint64_t size_bytes) override;
  Result<std::unique_ptr<Buffer>> DoImportBuffer(const NativeMemory& memory) override;
  Status DoWrite(Buffer& buffer, uint64_t offset_bytes, uint64_t size_bytes,
                 const std::function<Status(std::span<std::byte>)>& fill) override;
  Status DoRead(const Buffer& buffer, uint64_t offset_bytes, uint64_t size_bytes,
                const std::function<Status(std::span<const std::byte>)>& view) override;
  Result<std::unique_ptr<ProgramGroup>> DoCompile(std::span<const KernelSource> sources) override;
  Result<std::unique_ptr<ProgramGroup>> DoLoad(std::span<const KernelSource> sources,
                                               std::span<const std::byte> binary) override;
  Result<std::unique_ptr<Executable>> DoPrepare(const CommandList& commands) override;

  std::unique_ptr<Context> context_;
};

}  // namespace hearth::gles

#endif  // HEARTH_BACKENDS_GLES_DEVICE_H_
