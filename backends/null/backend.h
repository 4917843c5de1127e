// A device that is always present, checks its arguments and computes nothing.
#ifndef HEARTH_BACKENDS_NULL_BACKEND_H_
#define HEARTH_BACKENDS_NULL_BACKEND_H_

#include <memory>
#include <vector>

#include "hal/device/device.h"

namespace hearth {

// One usable candidate, on every machine.
std::vector<DeviceCandidate> EnumerateNull();

// A NullDevice (see device.h) with generous limits. Never fails.
Result<std::unique_ptr<Device>> OpenNull(const DeviceCandidate& candidate);

}  // namespace hearth

#endif  // HEARTH_BACKENDS_NULL_BACKEND_H_
