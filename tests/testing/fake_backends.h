// Backends whose devices a test makes up: for the choice of a device, and for what follows when one fails.
#ifndef HEARTH_TESTS_TESTING_FAKE_BACKENDS_H_
#define HEARTH_TESTS_TESTING_FAKE_BACKENDS_H_

#include <functional>
#include <string>
#include <vector>

#include "hal/device.h"

namespace hearth::testing {

// One device of a fake backend.
struct FakeDevice {
  std::string name;
  DeviceType type = DeviceType::kDiscreteGpu;
  std::string unusable_reason;  // empty: usable
  std::function<Result<std::unique_ptr<Device>>()> open;
};

// A backend row holds plain functions, so what they answer is here, for one test at a time. Two rows: "first",
// "second".
struct FakeBackends {
  std::vector<FakeDevice> first, second;
};
FakeBackends& TheFakeBackends();
std::span<const BackendDef> FakeBackendRows();

}  // namespace hearth::testing

#endif  // HEARTH_TESTS_TESTING_FAKE_BACKENDS_H_
