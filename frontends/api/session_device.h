// Opens and checks a session's device.
#ifndef HEARTH_FRONTENDS_API_SESSION_DEVICE_H_
#define HEARTH_FRONTENDS_API_SESSION_DEVICE_H_

#include "frontends/api/session_data.h"

namespace hearth {

// Sets the wait limit. Runs the self-test on a device that says it is hardware, until it has passed once for this
// cache, device and driver. kUnavailable if it fails.
Status TrustDevice(SessionData& data);

// Opens the device that the options name, or another one with SessionOptions::next_device.
Result<OpenedDevice> OpenAskedDevice(const SessionData& data);

}  // namespace hearth

#endif  // HEARTH_FRONTENDS_API_SESSION_DEVICE_H_
