// Device names for parameterized tests over every device of the build.
#ifndef HEARTH_TESTS_TESTING_DEVICE_NAMES_H_
#define HEARTH_TESTS_TESTING_DEVICE_NAMES_H_

#include <string>
#include <vector>

#include "runtime/devices/backends.h"

namespace hearth::testing {

// "cpu", then the backends.
inline std::vector<std::string> DeviceNames() {
  std::vector<std::string> names = BackendNames();
  names.insert(names.begin(), "cpu");
  return names;
}

}  // namespace hearth::testing

#endif  // HEARTH_TESTS_TESTING_DEVICE_NAMES_H_
