// What a public function of a session that can fail begins with.
#ifndef HEARTH_FRONTENDS_API_SESSION_CALL_H_
#define HEARTH_FRONTENDS_API_SESSION_CALL_H_

#include "core/base/float_environment.h"
#include "hearth/status.h"

namespace hearth {

struct SessionData;

// Whether the call can go on. Until it returns, its thread computes as C programs start, and no other thread's call
// goes on. Calls within a call of the same thread do.
class SessionCall {
 public:
  // `data`: null for a session that was moved from.
  explicit SessionCall(SessionData* data);
  ~SessionCall();
  SessionCall(const SessionCall&) = delete;
  SessionCall& operator=(const SessionCall&) = delete;

  // kInvalidArgument after a move, and while another thread is inside; kUnavailable in a forked process: drivers'
  // threads and connections are not there, and a run would wait for ever.
  const Status& status() const { return status_; }

 private:
  Status Begin();

  DefaultFloatEnvironment environment_;
  SessionData* data_;
  bool is_outermost_ = false;
  Status status_;
};

}  // namespace hearth

#endif  // HEARTH_FRONTENDS_API_SESSION_CALL_H_
