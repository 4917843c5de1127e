// Drivers in a process that was forked from one that used them. The threads that their calls wait for are not there:
// PoCL, llvmpipe and lavapipe hang. No driver can be told to begin anew.
#ifndef HEARTH_FRONTENDS_ENGINE_FORKED_DRIVERS_H_
#define HEARTH_FRONTENDS_ENGINE_FORKED_DRIVERS_H_

#include <string>
#include <vector>

#include "hal/device.h"

namespace hearth {

// The backend's devices. Where a process of which this one is a fork asked for them before: one that is not usable,
// with that reason, and no driver is called.
std::vector<DeviceCandidate> EnumerateUnlessForked(const BackendDef& backend);

// That reason, where the other process found hardware; else empty.
std::string WhyHardwareIsLost(const BackendDef& backend);

}  // namespace hearth

#endif  // HEARTH_FRONTENDS_ENGINE_FORKED_DRIVERS_H_
