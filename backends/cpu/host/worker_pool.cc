#include "backends/cpu/host/worker_pool.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "core/base/error.h"
#include "core/base/threads.h"

namespace hearth {
namespace {

// The bits of WorkerPool::state_.
constexpr uint32_t kOpen = 1, kOneInside = 2;
constexpr uint32_t kInside = 0x1ffe;
constexpr uint32_t kOneLoop = 0x2000;
constexpr uint32_t kLoopNumber = ~(kOpen | kInside);

// Going to sleep and being woken takes 5 to 50 us, about as long as a small node.
constexpr int64_t kAwakeNs = 100'000;
constexpr int64_t kAwakeOnSharedCpusNs = 2'000;
// A thread that only reads the clock and finds this gap shares its CPU with another thread, whose turn is a millisecond
// or more. Shorter gaps are interrupts and the host of a virtual machine. With 50 us, threads went to sleep on an idle
// machine, and networks of small nodes took 3 to 17 % longer with two threads.
constexpr int64_t kGapOfSharedCpuNs = 500'000;
constexpr int64_t kSharedForNs = 100'000'000;

int64_t NowNs() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

void Pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// The pool whose loop this thread is in.
thread_local const WorkerPool* current_pool = nullptr;

}  // namespace

WorkerPool::WorkerPool(int threads, int cpus, std::shared_ptr<const BackgroundThreads> background)
    : cpus_(cpus),
      has_cpu_for_each_(threads <= cpus),
      background_(std::move(background)),
      ranges_(static_cast<size_t>(std::max(1, threads))) {
  HEARTH_CHECK(ranges_.size() < kInside / kOneInside);
}

WorkerPool::~WorkerPool() {
  stops_.store(true);
  state_.fetch_add(kOneLoop);  // no worker has seen this value
  state_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void WorkerPool::StartWorkers() {
  if (!workers_.empty()) return;
  workers_.reserve(ranges_.size());
  for (size_t thread = 1; thread < ranges_.size(); ++thread) {
    // If the system refuses a worker, the others do its share.
    if (std::thread worker; StartThread(worker, [this, thread] { Work(thread); }).ok())
      workers_.push_back(std::move(worker));
  }
}

template <typename Done>
bool WorkerPool::WaitAwake(Done done) {
  const int64_t begin = NowNs();
  const bool is_shared = !has_cpu_for_each_ || begin < cpus_are_shared_until_ns_.load(std::memory_order_relaxed);
  const int64_t end = begin + (is_shared ? kAwakeOnSharedCpusNs : kAwakeNs);
  for (int64_t last = begin, now; last < end; last = now) {
    for (int k = 0; k < 8; ++k) {
      if (done()) return true;
      Pause();
    }
    now = NowNs();
    if (now - last > kGapOfSharedCpuNs) cpus_are_shared_until_ns_.store(now + kSharedForNs, std::memory_order_relaxed);
  }
  return done();
}

uint32_t WorkerPool::WaitForLoop(uint32_t seen) {
  uint32_t state = 0;
  const auto is_new = [&] {
    state = state_.load(std::memory_order_acquire);
    return stops_.load(std::memory_order_relaxed) || ((state & kOpen) != 0 && (state & kLoopNumber) != seen);
  };
  if (WaitAwake(is_new)) return state;
  while (!is_new()) state_.wait(state, std::memory_order_acquire);
  return state;
}

void WorkerPool::Work(size_t thread) {
  current_pool = this;
  uint32_t seen = 0;
  for (;;) {
    uint32_t state = WaitForLoop(seen);
    if (stops_.load(std::memory_order_acquire)) return;
    if ((state & kInside) / kOneInside >= most_workers_.load(std::memory_order_relaxed)) {
      seen = state & kLoopNumber;
      continue;
    }
    if (!state_.compare_exchange_strong(state, state + kOneInside, std::memory_order_acq_rel)) continue;
    seen = state & kLoopNumber;
    if (TakeAll(thread)) helped_.store(true, std::memory_order_relaxed);
    const uint32_t before = state_.fetch_sub(kOneInside, std::memory_order_acq_rel);
    if ((before & kOpen) == 0 && (before & kInside) == kOneInside) {
      last_left_.fetch_add(1, std::memory_order_release);
      last_left_.notify_one();
    }
  }
}

// An exception would end the process in a worker, and leave workers in the loop of a caller that is gone.
void WorkerPool::Call(int64_t index) noexcept {
  try {
    piece_(context_, index);
  } catch (...) {
    if (!failed_.exchange(true, std::memory_order_relaxed)) error_ = std::current_exception();
  }
}

bool WorkerPool::TakeAll(size_t thread) {
  bool took_any = false;
  Range& own = ranges_[thread];
  while (own.left.fetch_sub(1, std::memory_order_relaxed) > 0) {
    Call(own.begin++);
    took_any = true;
  }
  for (size_t k = 1; k < ranges_.size(); ++k) {
    Range& other = ranges_[(thread + k) % ranges_.size()];
    while (other.left.fetch_sub(1, std::memory_order_relaxed) > 0) {
      Call(other.end.fetch_sub(1, std::memory_order_relaxed) - 1);
      took_any = true;
    }
  }
  return took_any;
}

void WorkerPool::WaitForWorkers() {
  const auto all_left = [&] { return (state_.load(std::memory_order_acquire) & kInside) == 0; };
  if (all_left() || WaitAwake(all_left)) return;
  for (;;) {
    const uint32_t last_left = last_left_.load(std::memory_order_acquire);
    if (all_left()) return;
    last_left_.wait(last_left, std::memory_order_acquire);
  }
}

int64_t WorkerPool::UsableThreads() const {
  const auto threads = static_cast<int64_t>(ranges_.size());
  const int64_t others = background_ == nullptr ? 0 : background_->load(std::memory_order_relaxed);
  return others == 0 ? threads : std::clamp<int64_t>(cpus_ - others, 1, threads);
}

void WorkerPool::ForEach(int64_t count, Piece piece, void* context) {
  const int64_t threads = UsableThreads();
  const std::unique_lock<std::mutex> lock = current_pool == this || threads == 1 || count <= 1
                                                ? std::unique_lock<std::mutex>()
                                                : std::unique_lock<std::mutex>(one_loop_, std::try_to_lock);
  if (!lock.owns_lock()) {  // another thread's loop has the workers, or there is nothing to share
    for (int64_t k = 0; k < count; ++k) piece(context, k);
    return;
  }
  StartWorkers();
  piece_ = piece;
  context_ = context;
  for (int64_t t = 0; t < std::ssize(ranges_); ++t) {
    Range& range = ranges_[static_cast<size_t>(t)];
    range.begin = count / threads * t + std::min(t, count % threads);
    range.left.store(t < threads ? count / threads + (t < count % threads) : 0, std::memory_order_relaxed);
    range.end.store(range.begin + range.left.load(std::memory_order_relaxed), std::memory_order_relaxed);
  }
  helped_.store(false, std::memory_order_relaxed);
  most_workers_.store(static_cast<uint32_t>(threads - 1), std::memory_order_relaxed);
  const uint32_t last_number = state_.load(std::memory_order_relaxed) & kLoopNumber;
  state_.store((last_number + kOneLoop) | kOpen, std::memory_order_release);
  // A worker that shares the caller's CPU delays it. All are woken now and then, because there may be more CPUs by now.
  constexpr uint32_t kWakesAll = 16;
  const bool wakes_all = has_cpu_for_each_ || last_number / kOneLoop % kWakesAll == 0;
  const int64_t useful = std::min(count, wakes_all ? threads : cpus_);
  for (int64_t k = 1; k < useful; ++k) state_.notify_one();
  const WorkerPool* const outer = current_pool;
  current_pool = this;
  TakeAll(0);
  current_pool = outer;
  state_.fetch_and(~kOpen, std::memory_order_acq_rel);
  WaitForWorkers();
  if (helped_.load(std::memory_order_relaxed)) shared_loops_.fetch_add(1, std::memory_order_relaxed);
  if (failed_.exchange(false, std::memory_order_relaxed)) std::rethrow_exception(std::exchange(error_, nullptr));
}

}  // namespace hearth
