// What every backend must do alike, as functions over an opened device: each backend's test and the
// conformance suite run the same list.
#ifndef HEARTH_CONFORMANCE_DEVICE_CASES_H_
#define HEARTH_CONFORMANCE_DEVICE_CASES_H_

#include <ostream>
#include <span>

#include "hal/device.h"

namespace hearth::conformance {

struct DeviceCase {
  const char* name;  // a sentence in CamelCase, good as a test's name
  // kUnsupported: the device lacks what the case needs (fp16, texel buffers, binaries), and the message says what.
  Status (*run)(Device& device);

  // GoogleTest shows a case by its name instead of its bytes, which hold addresses.
  friend void PrintTo(const DeviceCase& device_case, std::ostream* out) { *out << device_case.name; }
};

// All cases.
std::span<const DeviceCase> DeviceCases();

// Those of lists, binaries and threads (device_cases_lists.cc), a part of all.
std::span<const DeviceCase> ListCases();

// Those of submissions and lent memory (device_cases_runs_in_flight.cc), a part of all.
std::span<const DeviceCase> RunsInFlightCases();

// What is refused, with which code (device_cases_contract.cc), a part of all; a device that computes nothing runs them.
std::span<const DeviceCase> ContractCases();

}  // namespace hearth::conformance

#endif  // HEARTH_CONFORMANCE_DEVICE_CASES_H_
