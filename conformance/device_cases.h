// The behaviour that every backend must have, as functions over an opened device. Each backend's test and the
// conformance suite run the same list.
#ifndef HEARTH_CONFORMANCE_DEVICE_CASES_H_
#define HEARTH_CONFORMANCE_DEVICE_CASES_H_

#include <ostream>
#include <span>

#include "hal/device/device.h"

namespace hearth::conformance {

struct DeviceCase {
  const char* name;  // a sentence in CamelCase, used as a test's name
  // kUnsupported: the device lacks what the case needs (fp16, texel buffers, binaries); the message names it.
  Status (*run)(Device& device);

  // GoogleTest prints a case by its name, not by its bytes, which contain addresses.
  friend void PrintTo(const DeviceCase& device_case, std::ostream* out) { *out << device_case.name; }
};

// A case with its function's name.
#define HEARTH_DEVICE_CASE(function)  \
  ::hearth::conformance::DeviceCase { \
#function, function               \
  }

// All cases.
std::span<const DeviceCase> DeviceCases();

// Cases of lists, binaries and threads (device_cases_lists.cc), part of DeviceCases().
std::span<const DeviceCase> ListCases();

// Cases of submissions and lent memory (device_cases_runs_in_flight.cc), part of DeviceCases().
std::span<const DeviceCase> RunsInFlightCases();

// Refusals and their codes (device_cases_contract.cc), part of DeviceCases(). The null device runs them too.
std::span<const DeviceCase> ContractCases();

}  // namespace hearth::conformance

#endif  // HEARTH_CONFORMANCE_DEVICE_CASES_H_
