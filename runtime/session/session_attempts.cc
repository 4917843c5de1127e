// Calls of a session that a device may make fail.
#include <algorithm>
#include <chrono>
#include <utility>

#include "core/base/error.h"
#include "runtime/session/move.h"
#include "runtime/session/session_data.h"

namespace hearth {
namespace {

// Moves to the next device, and repeats the runs in flight there.
Status LeaveDevice(SessionData& data, const Status& why) {
  data.earlier_shapes.clear();
  HEARTH_ASSIGN(std::unique_ptr<RunContext> next,
                PrepareOnTheNextDevice(*data.context, why, data.options->memory_limit_bytes, data.request->backends));
  const std::vector<StateContent> states = data.context->caller().retained_states;
  HEARTH_TRY(MoveTo(data.context, std::move(next), states));
  ShowContext(data);
  NoteMove(data);
  HEARTH_TRY(data.context->RepeatRuns());
  return HasNextDevice(data.context->prepared().request) ? data.context->RetainStates() : Status::Ok();
}

}  // namespace

Status RunOnAUsableDevice(SessionData& data, const Attempt& attempt) {
  HEARTH_TRY(CheckHasDevice(data));
  Status status = attempt.run();
  while (IsTheDevicesFault(status) && !attempt.was_ended() && data.context->has_device() &&
         HasNextDevice(data.context->prepared().request) && data.context->CanLeaveItsDevice()) {
    const std::chrono::milliseconds limit(std::max(0, data.options->wait_limit_ms));
    if (const Status handed = data.context->HandFramesToHost(attempt.reads_frames, limit); !handed.ok())
      return Error(status.code(), "{}; the next device can't repeat the run: {}", status.message(), handed.message());
    status = LeaveDevice(data, status);
    if (status.ok()) status = attempt.run();
  }
  return status;
}

}  // namespace hearth
