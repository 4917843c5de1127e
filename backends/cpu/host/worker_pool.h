// Threads that share the pieces of one loop. Every node on the CPU that uses more than the calling thread uses them.
#ifndef HEARTH_BACKENDS_CPU_HOST_WORKER_POOL_H_
#define HEARTH_BACKENDS_CPU_HOST_WORKER_POOL_H_

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <type_traits>
#include <vector>

#include "core/base/threads.h"

namespace hearth {

// Waking a worker takes about 10 us, so loops with less work run on the calling thread. The limits are in
// multiply-adds, in elements with an operation or a few, and in bytes that are only moved.
inline constexpr int64_t kMinWorkForThreads = 200'000, kLeastElementsOfPart = 16 * 1024, kLeastBytesOfPart = 64 << 10;

// The calling thread does everything that no worker takes, and waits only for workers that are at a piece, so a worker
// that gets no CPU delays nothing. Idle workers spin before they sleep: a few microseconds, or longer if every thread
// has its own CPU. It leaves CPUs to work in the background.
class WorkerPool {
 public:
  using Piece = void (*)(void* context, int64_t index);

  // `threads` includes the calling thread. Workers start with the first loop. `cpus`: the CPUs that the threads can
  // use. `background`: threads to which it leaves CPUs; may be null.
  WorkerPool(int threads, int cpus, std::shared_ptr<const BackgroundThreads> background = nullptr);
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  int threads() const { return static_cast<int>(ranges_.size()); }

  // Calls piece(context, k) once for each k in [0, count), and returns when all calls have returned. Each thread starts
  // with the same indices in every loop of the same length. Within another loop it runs on the calling thread. If calls
  // throw, one of their exceptions reaches the caller, after the last call; other calls may then be left out.
  void ForEach(int64_t count, Piece piece, void* context);

  // The same with `work(k)`.
  template <typename Work>
  void ForEach(int64_t count, Work&& work) {
    using Plain = std::remove_reference_t<Work>;
    ForEach(
        count, [](void* context, int64_t index) { (*static_cast<Plain*>(context))(index); },
        const_cast<void*>(static_cast<const void*>(&work)));
  }

  // Calls work(begin, end) for parts of [0, count) of at least about `least` elements.
  template <typename Work>
  void ForEachPart(int64_t count, int64_t least, Work&& work) {
    const int64_t parts = std::max<int64_t>(1, std::min(count / least, int64_t{threads()} * 4));
    ForEach(parts, [&](int64_t part) { work(count * part / parts, count * (part + 1) / parts); });
  }

  // The number of loops with work for more threads than the caller's. For tests and benchmarks.
  uint64_t shared_loops() const { return shared_loops_.load(std::memory_order_relaxed); }

 private:
  // The rest of one thread's share: it takes from the front, others from the back.
  struct alignas(64) Range {
    std::atomic<int64_t> left{0}, end{0};
    int64_t begin = 0;
  };

  // Fewer than threads() while work in the background needs CPUs.
  int64_t UsableThreads() const;
  void StartWorkers();
  void Work(size_t thread);
  bool TakeAll(size_t thread);
  void Call(int64_t index) noexcept;
  uint32_t WaitForLoop(uint32_t seen);
  void WaitForWorkers();

  template <typename Done>
  bool WaitAwake(Done done);

  const int64_t cpus_;
  const bool has_cpu_for_each_;
  const std::shared_ptr<const BackgroundThreads> background_;
  std::vector<Range> ranges_;
  std::vector<std::thread> workers_;
  std::mutex one_loop_;
  Piece piece_ = nullptr;
  void* context_ = nullptr;
  // Bits: whether workers may enter the loop, the number of workers in it, and the loop's number.
  std::atomic<uint32_t> state_{0};
  std::atomic<uint32_t> most_workers_{0};  // of the present loop
  std::atomic<uint32_t> last_left_{0};     // counts loops whose last worker left after the caller
  std::atomic<bool> stops_{false}, helped_{false}, failed_{false};
  std::exception_ptr error_;  // of the first piece of the present loop that failed
  std::atomic<int64_t> cpus_are_shared_until_ns_{0};
  std::atomic<uint64_t> shared_loops_{0};
};

}  // namespace hearth

#endif  // HEARTH_BACKENDS_CPU_HOST_WORKER_POOL_H_
