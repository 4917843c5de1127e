// Drivers in a process that was forked from one that used them. The threads that their calls wait for do not exist in
// the child, so PoCL, llvmpipe and lavapipe hang. No driver can be reset.
#ifndef HEARTH_RUNTIME_DEVICES_FORKED_DRIVERS_H_
#define HEARTH_RUNTIME_DEVICES_FORKED_DRIVERS_H_

#include <string>
#include <vector>

#include "hal/device/device.h"

namespace hearth {

// The backend's devices. If the process that this one was forked from has enumerated them, it returns one unusable
// device with that reason and calls no driver. The process keeps its signal handlers, unless another thread sets some
// meanwhile.
std::vector<DeviceCandidate> EnumerateUnlessForked(const BackendDef& backend);

// The same reason if the parent found hardware, else empty.
std::string WhyHardwareIsLost(const BackendDef& backend);

}  // namespace hearth

#endif  // HEARTH_RUNTIME_DEVICES_FORKED_DRIVERS_H_
