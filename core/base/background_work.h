// Marks threads that prepare a device behind the session that answers.
#ifndef HEARTH_CORE_BASE_BACKGROUND_WORK_H_
#define HEARTH_CORE_BASE_BACKGROUND_WORK_H_

#include <atomic>

namespace hearth {

// During its lifetime, loops on the CPU use `threads` threads fewer than there are CPUs, but at least one. Otherwise
// the scheduler takes CPUs away from threads in the middle of a loop, and a run waits for a time slice (milliseconds).
class BackgroundWork {
 public:
  explicit BackgroundWork(int threads) : threads_(threads) {
    all_threads_.fetch_add(threads, std::memory_order_relaxed);
  }
  ~BackgroundWork() { all_threads_.fetch_sub(threads_, std::memory_order_relaxed); }
  BackgroundWork(const BackgroundWork&) = delete;
  BackgroundWork& operator=(const BackgroundWork&) = delete;

  // Of all such objects of the process.
  static int Threads() { return all_threads_.load(std::memory_order_relaxed); }

 private:
  const int threads_;
  static inline std::atomic<int> all_threads_{0};
};

}  // namespace hearth

#endif  // HEARTH_CORE_BASE_BACKGROUND_WORK_H_
