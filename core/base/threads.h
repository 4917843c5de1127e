// Hearth's threads. A container may allow only few; a refused thread is not fatal.
#ifndef HEARTH_CORE_BASE_THREADS_H_
#define HEARTH_CORE_BASE_THREADS_H_

#include <sys/resource.h>

#include <atomic>
#include <csignal>
#include <functional>
#include <memory>
#include <system_error>
#include <thread>
#include <utility>

#include "core/base/error.h"
#include "core/base/float_environment.h"

namespace hearth {

// While this object lives, threads that this thread starts block the signals that are meant for the program: its
// handlers expect its own threads, and a signal that it awaits with sigwait or signalfd would end the process in one of
// Hearth's threads. Signals that a thread raises itself, and the profilers' clock, are not blocked.
class NoSignalsForNewThreads {
 public:
  NoSignalsForNewThreads() {
    sigset_t kept;
    sigfillset(&kept);
    for (const int own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT, SIGPROF}) sigdelset(&kept, own);
    pthread_sigmask(SIG_BLOCK, &kept, &before_);
  }
  ~NoSignalsForNewThreads() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  NoSignalsForNewThreads(const NoSignalsForNewThreads&) = delete;
  NoSignalsForNewThreads& operator=(const NoSignalsForNewThreads&) = delete;

 private:
  sigset_t before_;
};

// kResourceExhausted if the system gives no thread. `work` must not throw. The thread blocks the program's signals and
// has the default floating-point environment.
template <typename Work>
Status StartThread(std::thread& thread, Work work) {
  const NoSignalsForNewThreads none;
  try {
    thread = std::thread([work = std::move(work)]() mutable {
      std::fesetenv(FE_DFL_ENV);
      work();
    });
  } catch (const std::system_error& error) {
    return Error(StatusCode::kResourceExhausted, "the system gives no thread ({}): raise its limit on processes",
                 error.code().message());
  }
  return Status::Ok();
}

// Lowers this thread, and those that it starts from now on, below the priority that it has. It cannot be raised again
// without privileges.
inline void LowerPriority(int steps) {
  static_cast<void>(::setpriority(PRIO_PROCESS, 0, ::getpriority(PRIO_PROCESS, 0) + steps));
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

// The threads of such work: loops on the session's CPU use so many threads fewer than there are CPUs, but at least one.
// Otherwise the scheduler takes CPUs away from threads in the middle of a loop, and a run waits for a time slice
// (milliseconds).
using BackgroundThreads = std::atomic<int>;

// Counts the threads of some work during its lifetime.
class BackgroundWork {
 public:
  BackgroundWork(std::shared_ptr<BackgroundThreads> all, int threads) : all_(std::move(all)), threads_(threads) {
    all_->fetch_add(threads_, std::memory_order_relaxed);
  }
  ~BackgroundWork() { all_->fetch_sub(threads_, std::memory_order_relaxed); }
  BackgroundWork(const BackgroundWork&) = delete;
  BackgroundWork& operator=(const BackgroundWork&) = delete;

 private:
  const std::shared_ptr<BackgroundThreads> all_;
  const int threads_;
};

}  // namespace hearth

#endif  // HEARTH_CORE_BASE_THREADS_H_
