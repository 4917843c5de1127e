// Hearth's threads. A container may allow only few; a refused thread is not fatal.
#ifndef HEARTH_CORE_BASE_THREADS_H_
#define HEARTH_CORE_BASE_THREADS_H_

#include <functional>
#include <system_error>
#include <thread>
#include <utility>

#include "core/base/guarded.h"

namespace hearth {

// kResourceExhausted if the system gives no thread. `work` must not throw.
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

// Runs work on another thread; if the system gives none, runs it at once on this thread.
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

  // Waits, and returns the work's status; an exception becomes an error. Call it once.
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
