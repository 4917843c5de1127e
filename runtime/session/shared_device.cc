#include "runtime/session/shared_device.h"

#include "runtime/session/session_data.h"

namespace hearth {

Result<Session> CreateSessionOn(const OpenedDevice& device, const Model& model, const SessionOptions& options) {
  auto opened = std::make_shared<SessionDevice>();
  opened->opened = device;
  return CreateSession(model, {.options = options, .device = std::move(opened)});
}

std::shared_ptr<Device> DeviceOf(Session& session) {
  const SessionData* data = SessionData::Of(session);
  return data != nullptr && data->context->has_device() ? data->context->prepared().request.device->opened.device
                                                        : nullptr;
}

}  // namespace hearth
