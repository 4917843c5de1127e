// Runs conformance cases on an opened device and judges them.
#ifndef HEARTH_CONFORMANCE_SUITE_H_
#define HEARTH_CONFORMANCE_SUITE_H_

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "conformance/conformance_case.h"
#include "conformance/device_cases.h"
#include "hal/device.h"

namespace hearth::conformance {

enum class Outcome : uint8_t {
  kPassed,
  kFailed,
  kUnsupported,      // left to the host, as listed
  kExpectedFailure,  // wrong, as listed
};

struct CaseResult {
  std::string op, name, path;  // path: how kernels read and what they store, "buffer", "texel fp16"; "host" on the CPU
  Outcome outcome = Outcome::kPassed;
  std::string detail;   // why not passed
  bool judged = false;  // ran, so that the numbers below mean something
  double worst_error = 0, tolerance = 0;
  double milliseconds = 0;  // of its dispatches; 0 where the device does not time them

  std::string id() const { return op + "/" + name; }
};

struct DeviceResults {
  std::string device;  // "vulkan:0"
  DeviceInfo info;
  std::vector<CaseResult> cases;
  double milliseconds = 0;
  std::vector<std::string> notes;  // ways to run that the driver promises and does not have

  int Count(Outcome outcome) const;
};

// Told before each family: how many of the cases to run are done, and what comes next ("conv_2d, texel fp16").
using ProgressObserver = std::function<void(size_t done, size_t total, const std::string& next)>;

// Every case in fp32 and, where the device can store it, in fp16, and those that ask for it on every further access
// path that the device has. `device` is null for the CPU. Never fails: what goes wrong is
// the outcome of the cases that it hit. `is_stopped` is asked before each family; families that are left when it says
// yes are not in the results. A family runs as one plan; one that fails as a whole runs case by case.
DeviceResults RunCases(std::string device_id, Device* device, const DeviceInfo& info,
                       std::span<const ConformanceCase> cases, const ProgressObserver& observer = {},
                       const std::function<bool()>& is_stopped = {});

// What holds below the operations, as results of the operation "hal": buffers, barriers, programs, binaries, errors.
void RunDeviceCases(Device& device, std::span<const DeviceCase> cases, DeviceResults& results);

}  // namespace hearth::conformance

#endif  // HEARTH_CONFORMANCE_SUITE_H_
