// Work in the background of a session that answers on the CPU.
#ifndef HEARTH_CORE_BASE_BACKGROUND_WORK_H_
#define HEARTH_CORE_BASE_BACKGROUND_WORK_H_

#include <atomic>
#include <memory>
#include <utility>

namespace hearth {

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

#endif  // HEARTH_CORE_BASE_BACKGROUND_WORK_H_
