// Sessions of several models on one device, which may use the same buffers (kOwnBuffer).
#ifndef HEARTH_RUNTIME_SESSION_SHARED_DEVICE_H_
#define HEARTH_RUNTIME_SESSION_SHARED_DEVICE_H_

#include <memory>

#include "hearth/session.h"
#include "runtime/devices/device_choice.h"

namespace hearth {

// Session::Create on an open device, which the options' own names do not change.
Result<Session> CreateSessionOn(const OpenedDevice& device, const Model& model, const SessionOptions& options);

// The device that the session is on now; null: the CPU.
std::shared_ptr<Device> DeviceOf(Session& session);

}  // namespace hearth

#endif  // HEARTH_RUNTIME_SESSION_SHARED_DEVICE_H_
