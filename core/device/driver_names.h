// The words by which drivers are recognized. Rules about what they imply are in device_rules.
#ifndef HEARTH_CORE_DEVICE_DRIVER_NAMES_H_
#define HEARTH_CORE_DEVICE_DRIVER_NAMES_H_

#include <string>
#include <string_view>

#include "core/device/device_info.h"

namespace hearth {

// Whether the device's name has that of a software driver, in any case and within the name of a driver that runs on it
// (virgl, zink, Venus, ANGLE). For APIs that do not tell, and for wrappers that call it something else: rules that keep
// results right (Rule::kLoopLimit) depend on it.
bool IsSoftwareName(std::string_view name);

// Whether device and host share memory, for APIs that do not tell: the names of some families of GPUs do. No for all
// others, AMD's processors with a GPU too: results are the same, and a wrong no costs a conversion on the device. A
// wrong yes would have the host read device memory over a bus.
bool NameHasUnifiedMemory(const DeviceInfo& device);

// Whether the device is a card with memory of its own, for APIs that do not tell: NVIDIA's and Intel's names do.
bool NameIsDiscrete(std::string_view name);

// What a driver says of itself.
struct DriverWords {
  explicit DriverWords(const DeviceInfo& driver);

  Dialect dialect;
  std::string text;  // the device's name, vendor and driver version

  bool Has(std::string_view word) const { return text.find(word) != std::string::npos; }
};

bool IsPocl(const DriverWords& driver);

}  // namespace hearth

#endif  // HEARTH_CORE_DEVICE_DRIVER_NAMES_H_
