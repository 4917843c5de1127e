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
  PrepareRequest request = data_->context->prepared().request;
  const SessionDevice& device = *request.device;
  request.device = std::make_shared<SessionDevice>();
  request.device->opened = device.opened;
  request.device->opened.reason = "the device of the session that this one was cloned from";
  request.device->opened.warnings.clear();
  request.device->failed_ids = device.failed_ids;
  request.device->constants = device.constants;  // not the programs: one thread at a time may use them
  request.device->host = device.host->Beside();
  request.memory_limit_bytes = data_->options->memory_limit_bytes;
  request.stop = {};
  request.trusts_stored_plan = true;
  request.is_interim = false;
  Result<std::unique_ptr<RunContext>> context = PrepareContext(request);
  HEARTH_TRY(context.status().Within(data_->context->model().path()));
  Exchange(clone->context, std::move(context).value());
  clone->report.start.reason = "cloned";
  NoteStart(*clone);
  return Session(std::move(clone));
}

}  // namespace hearth
