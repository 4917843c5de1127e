// Sessions of several models on one device, which may use the same buffers (kOwnBuffer).
#ifndef HEARTH_FRONTENDS_API_SHARED_DEVICE_H_
#define HEARTH_FRONTENDS_API_SHARED_DEVICE_H_

#include <memory>

#include "frontends/engine/device_choice.h"
#include "hearth/session.h"

namespace hearth {

// Session::Create on an open device, which the options' own names do not change.
Result<Session> CreateSessionOn(const OpenedDevice& device, const Model& model, const SessionOptions& options);

// The device that the session is on now; null: the CPU.
std::shared_ptr<Device> DeviceOf(Session& session);

}  // namespace hearth

#endif  // HEARTH_FRONTENDS_API_SHARED_DEVICE_H_
