// Opens a second session on the device of an existing one.
#include "core/base/error.h"
#include "frontends/api/next_device.h"
#include "frontends/api/session_call.h"
#include "frontends/api/session_data.h"

namespace hearth {

Result<Session> Session::Clone() {
  const SessionCall call(data_.get());
  HEARTH_TRY(call.status());
  if (data_->runner == nullptr)
    return Error(StatusCode::kDeviceLost, "the session lost its device and found no other; open a new one");
  std::unique_ptr<SessionData> clone = DataBeside(*data_);
  clone->is_beside = false;
  clone->owned_model = data_->owned_model;
  clone->resized_model = data_->resized_model;
  clone->opened = data_->opened;
  clone->opened.reason = "the device of the session that this one was cloned from";
  clone->opened.warnings.clear();
  clone->held.constants = data_->held.constants;  // not the programs: one thread at a time may use them
  if (data_->host != nullptr) clone->host = data_->host->Beside();
  clone->report.cache.path = data_->report.cache.path;
  clone->report.start.first_by = clone->opened.id;
  clone->report.start.reason = "cloned";
  HEARTH_TRY(Prepare(*clone).Within(data_->model->path()));
  return Session(std::move(clone));
}

}  // namespace hearth
