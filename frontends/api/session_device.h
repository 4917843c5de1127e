// A session's device before anything is made for it.
#ifndef HEARTH_FRONTENDS_API_SESSION_DEVICE_H_
#define HEARTH_FRONTENDS_API_SESSION_DEVICE_H_

#include "frontends/api/session_data.h"

namespace hearth {

// Sets how long the device is waited for, and tests one that says it is hardware, the first time that this cache sees
// it and its driver, and again until it passes. kUnavailable where it does not compute.
Status TrustDevice(SessionData& data);

// Opens the device that the options ask for, or with SessionOptions::next_device another.
Result<OpenedDevice> OpenAskedDevice(const SessionData& data);

}  // namespace hearth

#endif  // HEARTH_FRONTENDS_API_SESSION_DEVICE_H_
