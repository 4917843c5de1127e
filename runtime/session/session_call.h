// The guard at the start of each public session function that can fail.
#ifndef HEARTH_RUNTIME_SESSION_SESSION_CALL_H_
#define HEARTH_RUNTIME_SESSION_SESSION_CALL_H_

#include "core/base/error.h"
#include "core/base/float_environment.h"
#include "hearth/status.h"

namespace hearth {

struct SessionData;

// A call from a callback of a call of the same session.
Status CalledFromInside();

// Checks whether a call may proceed. While it lives, the thread has the default floating-point environment, and other
// calls are refused: of other threads, and of this one from a callback.
class SessionCall {
 public:
  // `data`: null for a session that was moved from.
  explicit SessionCall(SessionData* data);
  ~SessionCall();
  SessionCall(const SessionCall&) = delete;
  SessionCall& operator=(const SessionCall&) = delete;

  // kInvalidArgument after a move, and while this or another thread is in a call. kUnavailable in a forked process: it
  // lacks the driver's threads and connections, so a run would wait forever.
  const Status& status() const { return status_; }

 private:
  Status Begin();

  DefaultFloatEnvironment environment_;
  SessionData* data_;
  Status status_;
};

// The work of a public function, in a call.
template <typename Work>
auto InCall(SessionData* data, const Work& work) -> decltype(work(*data)) {
  const SessionCall call(data);
  HEARTH_TRY(call.status());
  return work(*data);
}

}  // namespace hearth

#endif  // HEARTH_RUNTIME_SESSION_SESSION_CALL_H_
