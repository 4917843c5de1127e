// Storing what a start has made soon after its first answer, while the session goes on: apps are killed, and scripts
// end without closing their sessions, and their next start is to be warm as well.
#ifndef HEARTH_RUNTIME_SESSION_EARLY_SAVE_H_
#define HEARTH_RUNTIME_SESSION_EARLY_SAVE_H_

#include <unistd.h>

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace hearth {

// Calls `save` on a thread of low priority once a short time has passed and `is_quiet` says that no run would wait for
// it, at the latest after some seconds. The thread uses nothing that runs change.
class EarlySave {
 public:
  using Save = std::function<std::vector<std::string>()>;

  EarlySave(Save save, std::function<bool()> is_quiet);
  ~EarlySave();  // Finish
  EarlySave(const EarlySave&) = delete;
  EarlySave& operator=(const EarlySave&) = delete;

  // Waits if saving has begun; else it will not begin. Whether it was done.
  bool Finish();
  // After Finish: what `save` returned.
  const std::vector<std::string>& warnings() const { return warnings_; }

  // At exit: the same as Finish from another thread than the session's.
  void EndBeforeExit();

 private:
  enum class State { kWaiting, kSaving, kDone, kCancelled };

  void Work();

  const Save save_;
  const std::function<bool()> is_quiet_;
  const pid_t process_ = ::getpid();
  std::vector<std::string> warnings_;
  std::mutex mutex_;
  std::condition_variable changed_;
  State state_ = State::kWaiting;  // under the mutex
  std::thread thread_;             // last: it uses the rest
};

}  // namespace hearth

#endif  // HEARTH_RUNTIME_SESSION_EARLY_SAVE_H_
