// What every backend must do alike, as functions over an opened device: each backend's test and the
// conformance suite run the same list. Results are checked with GoogleTest's EXPECT_*.
#ifndef HEARTH_TESTS_TESTING_DEVICE_CASES_H_
#define HEARTH_TESTS_TESTING_DEVICE_CASES_H_

#include <ostream>
#include <span>

#include "hal/device.h"

namespace hearth::testing {

struct DeviceCase {
  const char* name;  // a sentence in CamelCase, good as a test's name
  void (*run)(Device& device);

  // GoogleTest shows a case by its name instead of its bytes, which hold addresses.
  friend void PrintTo(const DeviceCase& device_case, std::ostream* out) { *out << device_case.name; }
};

// All cases. A case that needs what the device lacks (fp16, texel buffers, binaries) skips with its reason.
std::span<const DeviceCase> DeviceCases();

}  // namespace hearth::testing

#endif  // HEARTH_TESTS_TESTING_DEVICE_CASES_H_
