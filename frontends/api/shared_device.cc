#include "frontends/api/shared_device.h"

#include "frontends/api/session_data.h"

namespace hearth {

Result<Session> CreateSessionOn(const OpenedDevice& device, const Model& model, const SessionOptions& options) {
  auto data = std::make_unique<SessionData>();
  data->options = options;
  data->model = &model;
  data->given = device;
  return CreateSession(std::move(data));
}

std::shared_ptr<Device> DeviceOf(Session& session) {
  const SessionData* data = SessionData::Of(session);
  return data != nullptr ? data->opened.device : nullptr;
}

}  // namespace hearth
