#include "backends/cpu/backend.h"

#include "backends/cpu/cpu_executor.h"
#include "core/base/error.h"

namespace hearth {
namespace {

// Of a list without commands: its submissions are finished at once.
class NoCommands final : public Executable {
 public:
  Result<uint64_t> Submit(const SubmitSync& sync) override {
    if (sync.wait_for.empty() && sync.signal.empty() && sync.fence == nullptr) return 0;
    return Error(StatusCode::kUnsupported, "the CPU has no fences to wait for or to signal");
  }
  Status Wait(uint64_t /*submission*/) override { return Status::Ok(); }
  Result<std::vector<double>> RunProfiled() override { return std::vector<double>(); }
};

class CpuDevice final : public Device {
 public:
  CpuDevice() : Device(CpuDeviceInfo()) {}

 private:
  static Status Lacks(std::string_view what) { return Error(StatusCode::kUnsupported, "the CPU has no {}", what); }

  void DoSetWaitLimit(std::chrono::nanoseconds /*limit*/) override {}
  Result<std::unique_ptr<Buffer>> DoCreateBuffer(uint64_t /*size_bytes*/) override { return Lacks("buffers"); }
  Result<std::unique_ptr<Buffer>> DoImportBuffer(const NativeMemory& /*memory*/) override { return Lacks("buffers"); }
  Status DoWrite(Buffer& /*buffer*/, uint64_t /*offset_bytes*/, uint64_t /*size_bytes*/,
                 const std::function<Status(std::span<std::byte>)>& /*fill*/) override {
    return Lacks("buffers");
  }
  Status DoRead(const Buffer& /*buffer*/, uint64_t /*offset_bytes*/, uint64_t /*size_bytes*/,
                const std::function<Status(std::span<const std::byte>)>& /*view*/) override {
    return Lacks("buffers");
  }
  Result<std::unique_ptr<ProgramGroup>> DoCompile(std::span<const KernelSource> /*sources*/) override {
    return Lacks("kernels");
  }
  Result<std::unique_ptr<ProgramGroup>> DoLoad(std::span<const KernelSource> /*sources*/,
                                               std::span<const std::byte> /*binary*/) override {
    return Lacks("kernels");
  }
  Result<std::unique_ptr<Executable>> DoPrepare(const CommandList& commands) override {
    if (!commands.commands.empty()) return Lacks("commands");
    return std::unique_ptr<Executable>(std::make_unique<NoCommands>());
  }
};

}  // namespace

std::vector<DeviceCandidate> EnumerateCpu() {
  const DeviceInfo info = CpuDeviceInfo();
  DeviceCandidate candidate;
  candidate.backend = info.backend;
  candidate.name = info.name;
  candidate.driver = info.driver_version;
  candidate.type = info.type;
  candidate.usable = true;
  return {candidate};
}

Result<std::unique_ptr<Device>> OpenCpu(const DeviceCandidate& /*candidate*/) {
  return std::unique_ptr<Device>(std::make_unique<CpuDevice>());
}

}  // namespace hearth
