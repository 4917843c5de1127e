// Runs conformance cases on an opened device and compares the results.
#ifndef HEARTH_CONFORMANCE_SUITE_H_
#define HEARTH_CONFORMANCE_SUITE_H_

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "conformance/conformance_case.h"
#include "conformance/device_cases.h"
#include "conformance/expectations.h"
#include "hal/device/device.h"

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
  std::string detail;   // why it did not pass
  bool judged = false;  // it ran, so the numbers below are valid
  double worst_error = 0, tolerance = 0;
  double milliseconds = 0;  // of its dispatches; 0 if the device has no timer

  std::string id() const { return op + "/" + name; }
};

struct DeviceResults {
  std::string device;  // "vulkan:0"
  DeviceInfo info;
  std::vector<CaseResult> cases;
  size_t cases_total = 0;    // that there were to run
  bool was_stopped = false;  // before all of them had run
  double milliseconds = 0;
  std::vector<std::string> notes;  // features that the driver promises and does not have

  int Count(Outcome outcome) const;
};

// Called before each family: finished cases, all cases, and the next family ("conv_2d, texel fp16").
using ProgressObserver = std::function<void(size_t done, size_t total, const std::string& next)>;

// Runs every case in fp32 and, if the device can store it, in fp16. Cases that ask for it also run with every further
// access path that the device has. Never fails: an error is the outcome of the cases that
// it hit. Asks `is_stopped` before each family; families after a yes are not in the results. A family runs as one plan;
// if that fails as a whole, its cases run one by one. `waivers`: failures that are expected besides the backend's own;
// what they name and passes is a failure.
DeviceResults RunCases(std::string device_id, Device& device, const DeviceInfo& info,
                       std::span<const ConformanceCase> cases, const ProgressObserver& observer = {},
                       const std::function<bool()>& is_stopped = {}, std::span<const Expectation> waivers = {});

// Runs checks below the operations, as results of the operation "hal": buffers, barriers, programs, binaries, errors.
// Asks `is_stopped` before each.
void RunDeviceCases(Device& device, std::span<const DeviceCase> cases, DeviceResults& results,
                    const std::function<bool()>& is_stopped = {}, std::span<const Expectation> waivers = {});

}  // namespace hearth::conformance

#endif  // HEARTH_CONFORMANCE_SUITE_H_
