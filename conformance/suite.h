// Runs conformance cases on an opened device and compares the results.
#ifndef HEARTH_CONFORMANCE_SUITE_H_
#define HEARTH_CONFORMANCE_SUITE_H_

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "conformance/case_result.h"
#include "conformance/conformance_case.h"
#include "conformance/device_cases.h"
#include "conformance/expectations.h"
#include "hal/device/device.h"

namespace hearth::conformance {

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

struct RunOptions {
  ProgressObserver observer = {};
  std::function<bool()> is_stopped = {};      // asked before each family; families after a yes are not in the results
  std::span<const Expectation> waivers = {};  // failures that are expected besides the backend's own; what they name
                                              // and passes is a failure
  std::string failures_folder = {};           // where each failed case is written (failed_case.h); empty: nowhere
  Journal* journal = nullptr;                 // what it has is not run again, and what runs is noted in it
};

// Runs every case in fp32 and, if the device can store it, in fp16. Cases that ask for it also run with every further
// access path that the device has. Never fails: an error is the outcome of the cases that it hit. A family runs as one
// plan; if that fails as a whole, its cases run one by one.
DeviceResults RunCases(std::string device_id, Device& device, const DeviceInfo& info,
                       std::span<const ConformanceCase> cases, const RunOptions& options = {});

// Runs checks below the operations, as results of the operation "hal": buffers, barriers, programs, binaries, errors.
// Each is a family.
void RunDeviceCases(Device& device, std::span<const DeviceCase> cases, DeviceResults& results,
                    const RunOptions& options = {});

}  // namespace hearth::conformance

#endif  // HEARTH_CONFORMANCE_SUITE_H_
