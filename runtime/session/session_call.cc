#include "runtime/session/session_call.h"

#include <thread>

#include "core/base/error.h"
#include "runtime/session/session_data.h"

namespace hearth {

SessionCall::SessionCall(SessionData* data) : data_(data), status_(Begin()) {}

SessionCall::~SessionCall() {
  if (is_outermost_) data_->caller.store(std::thread::id(), std::memory_order_release);
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
  is_outermost_ = data_->caller.compare_exchange_strong(caller, self, std::memory_order_acquire);
  if (is_outermost_ || caller == self) return Status::Ok();
  return Error(StatusCode::kInvalidArgument,
               "another thread is inside this session, which is for one at a time: give each thread a clone of it, or "
               "hand its runs to a RunQueue");
}

}  // namespace hearth
