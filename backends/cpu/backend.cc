#include "backends/cpu/backend.h"

#include <fstream>
#include <string>

#include "backends/cpu/cpu_executor.h"
#include "backends/cpu/host/process_limits.h"
#include "backends/cpu/integer/integer_nodes.h"
#include "backends/cpu/xnnpack_nodes.h"
#include "core/base/error.h"

namespace hearth {
namespace {

// The first core's name in /proc/cpuinfo: "model name" on x86, "Hardware" or "Processor" on some Arm boards.
std::string CpuModelName() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    const size_t colon = line.find(": ");
    if (colon == std::string::npos) continue;
    const std::string key = line.substr(0, line.find_last_not_of(" \t:", colon) + 1);
    if (key == "model name" || key == "Hardware" || key == "Processor") return line.substr(colon + 2);
  }
  return "CPU";
}

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

DeviceInfo CpuDeviceInfo() {
  DeviceInfo info;
  info.backend = kHostBackend;
  info.type = DeviceType::kCpu;
  info.name = CpuModelName();
  info.driver_version = HostKernelsName();
  info.compute_units = static_cast<uint32_t>(UsableCpus());
  info.unified_memory = true;
  info.multiplies_bytes = MultipliesBytes();
  return info;
}

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
