#include "runtime/session/session_call.h"

#include <algorithm>
#include <chrono>
#include <thread>
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

Status CalledFromInside() {
  return Error(StatusCode::kInvalidArgument,
               "this session is called from inside one of its own calls, by an operator or a listener of the program's "
               "own: use a clone of it there");
}

SessionCall::SessionCall(SessionData* data) : data_(data), status_(Begin()) {}

SessionCall::~SessionCall() {
  if (status_.ok()) data_->caller.store(std::thread::id(), std::memory_order_release);
}

Status SessionCall::Begin() {
  if (data_ == nullptr)
    return Error(StatusCode::kInvalidArgument, "this session was moved from: use the one that it was moved to");
  if (data_->process != ::getpid()) {
    return Error(StatusCode::kUnavailable,
                 "this session was opened by process {}, of which this one is a fork: open sessions after forking",
                 data_->process);
  }
  const std::thread::id self = std::this_thread::get_id();
  std::thread::id caller;  // no thread
  if (data_->caller.compare_exchange_strong(caller, self, std::memory_order_acquire)) return Status::Ok();
  if (caller == self) return CalledFromInside();
  return Error(StatusCode::kInvalidArgument,
               "another thread is inside this session, which is for one at a time: give each thread a clone of it, or "
               "hand its runs to a RunQueue");
}

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
