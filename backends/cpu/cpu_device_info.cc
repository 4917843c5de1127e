#include <fstream>
#include <string>

#include "backends/cpu/cpu_executor.h"
#include "backends/cpu/host/process_limits.h"
#include "backends/cpu/xnnpack_nodes.h"

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

}  // namespace

DeviceInfo CpuDeviceInfo() {
  DeviceInfo info;
  info.backend = kHostBackend;
  info.type = DeviceType::kCpu;
  info.name = CpuModelName();
  info.driver_version = HostKernelsName();
  info.compute_units = static_cast<uint32_t>(UsableCpus());
  info.unified_memory = true;
  return info;
}

}  // namespace hearth
