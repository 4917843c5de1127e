// The null device: buffers in host memory; kernels are checked and counted, but not computed.
#ifndef HEARTH_BACKENDS_NULL_DEVICE_H_
#define HEARTH_BACKENDS_NULL_DEVICE_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "hal/device/device.h"
#include "hal/device/wait_limit.h"

namespace hearth {

// Limits that fit every kernel of Hearth. Tests lower them to see what is refused.
DeviceInfo NullDeviceInfo();

// Counts the calls of a null device.
struct NullCounts {
  std::atomic<int64_t> buffers_created = 0, buffers_imported = 0;
  std::atomic<int64_t> bytes_written = 0, bytes_read = 0;
  std::atomic<int64_t> programs_compiled = 0, programs_loaded = 0;
  std::atomic<int64_t> lists_prepared = 0;
  std::atomic<int64_t> dispatches_run = 0;
  std::atomic<uint64_t> submissions = 0;
  // For tests: this submission and all later ones never end.
  std::atomic<uint64_t> endless_from = UINT64_MAX;
  WaitLimit wait_limit;
};

class NullDevice final : public Device {
 public:
  explicit NullDevice(DeviceInfo info) : Device(std::move(info)) {}
  const NullCounts& counts() const { return counts_; }
  // Waiting for this submission or a later one takes as long as the wait limit. Without a limit it returns kInternal
  // instead of waiting for ever.
  void NeverEnd(uint64_t submission) { counts_.endless_from = submission; }

 private:
  void DoSetWaitLimit(std::chrono::nanoseconds limit) override { counts_.wait_limit.Set(limit); }
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

  NullCounts counts_;
};

}  // namespace hearth

#endif  // HEARTH_BACKENDS_NULL_DEVICE_H_
