// Opens a second session on the device of an existing one.
#include "core/base/error.h"
#include "frontends/api/move.h"
#include "frontends/api/session_call.h"
#include "frontends/api/session_data.h"
#include "frontends/api/session_report.h"

namespace hearth {

Result<Session> Session::Clone() {
  const SessionCall call(data_.get());
  HEARTH_TRY(call.status());
  HEARTH_TRY(CheckHasDevice(*data_));
  auto clone = std::make_unique<SessionData>(*data_->request, Stopwatch());
  clone->cache = data_->cache;
  const PrepareRequest& own = data_->context->prepared().request;
  auto device = std::make_shared<SessionDevice>();
  device->opened = own.device->opened;
  device->opened.reason = "the device of the session that this one was cloned from";
  device->opened.warnings.clear();
  device->failed_ids = own.device->failed_ids;
  device->constants = own.device->constants;  // not the programs: one thread at a time may use them
  device->host = own.device->host->Beside();
  const PrepareRequest request = SuccessorOf(own, std::move(device), data_->options->memory_limit_bytes);
  Result<std::unique_ptr<RunContext>> context = PrepareContext(request);
  HEARTH_TRY(context.status().Within(data_->context->model().path()));
  Exchange(clone->context, std::move(context).value());
  clone->report.start.reason = "cloned";
  NoteStart(*clone);
  return Session(std::move(clone));
}

}  // namespace hearth
