// Threads of our own. A container may allow only few: one that the system refuses ends nothing.
#ifndef HEARTH_CORE_BASE_THREADS_H_
#define HEARTH_CORE_BASE_THREADS_H_

#include <functional>
#include <system_error>
#include <thread>
#include <utility>

#include "core/base/guarded.h"

namespace hearth {

// kResourceExhausted where the system gives no thread. `work` must not throw.
template <typename Work>
Status StartThread(std::thread& thread, Work work) {
  try {
    thread = std::thread(std::move(work));
  } catch (const std::system_error& error) {
    return Error(StatusCode::kResourceExhausted, "the system gives no thread ({}): raise its limit on processes",
                 error.code().message());
  }
  return Status::Ok();
}

// Work that another thread does while this one goes on; where the system gives none, this one does it, at once.
class WorkBeside {
 public:
  explicit WorkBeside(std::function<Status()> work) : work_(std::move(work)) {
    const auto do_work = [this] { status_ = Guarded(work_); };
    if (!StartThread(thread_, do_work).ok()) do_work();
  }
  ~WorkBeside() {
    if (thread_.joinable()) thread_.join();
  }
  WorkBeside(const WorkBeside&) = delete;
  WorkBeside& operator=(const WorkBeside&) = delete;

  // Waits, and says how the work ended; what it threw is an error too. Once.
  Status Join() {
    if (thread_.joinable()) thread_.join();
    return std::move(status_);
  }

 private:
  std::function<Status()> work_;
  Status status_;
  std::thread thread_;  // last: it uses the rest
};

}  // namespace hearth

#endif  // HEARTH_CORE_BASE_THREADS_H_
