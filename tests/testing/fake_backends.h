// Backends with fake devices, for choosing a device and for leaving one that fails.
#ifndef HEARTH_TESTS_TESTING_FAKE_BACKENDS_H_
#define HEARTH_TESTS_TESTING_FAKE_BACKENDS_H_

#include <functional>
#include <string>
#include <vector>

#include "hal/device/device.h"

namespace hearth::testing {

// One device of a fake backend.
struct FakeDevice {
  std::string name;
  DeviceType type = DeviceType::kDiscreteGpu;
  std::string unusable_reason;  // empty: usable
  std::function<Result<std::unique_ptr<Device>>()> open;
};

// The devices of the two rows "first" and "second". Global, because a backend row holds plain functions: for one test
// at a time.
struct FakeBackends {
  std::vector<FakeDevice> first, second;
};
FakeBackends& TheFakeBackends();
// Both rows, and the CPU's.
std::span<const BackendDef> FakeBackendRows();

}  // namespace hearth::testing

#endif  // HEARTH_TESTS_TESTING_FAKE_BACKENDS_H_
