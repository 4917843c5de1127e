#include "backends/cpu/host/worker_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "core/base/threads.h"

namespace hearth {
namespace {

TEST(WorkerPool, CallsEachPieceOnceWhateverTheNumberOfThreads) {
  for (int threads : {1, 2, 3, 8}) {
    WorkerPool pool(threads, threads);
    for (int64_t count : {0, 1, 2, 3, 7, 64, 1000}) {
      std::vector<std::atomic<int>> calls(static_cast<size_t>(count));
      for (int loop = 0; loop < 20; ++loop) pool.ForEach(count, [&](int64_t k) { ++calls[static_cast<size_t>(k)]; });
      for (const std::atomic<int>& number : calls) ASSERT_EQ(number, 20) << threads << " threads, " << count;
    }
  }
}

TEST(WorkerPool, MoreThreadsThanCpusLeaveNothingOut) {
  WorkerPool pool(16, 1);
  std::atomic<int64_t> sum{0};
  for (int loop = 0; loop < 200; ++loop) pool.ForEach(33, [&](int64_t k) { sum += k; });
  EXPECT_EQ(sum, 200 * 32 * 33 / 2);
}

// Pieces that wait for each other end only where all threads are there.
TEST(WorkerPool, UsesAsManyThreadsAsItSays) {
  constexpr int kThreads = 4;
  WorkerPool pool(kThreads, kThreads);
  EXPECT_EQ(pool.threads(), kThreads);
  std::mutex mutex;
  std::condition_variable all_came;
  std::set<std::thread::id> threads;
  pool.ForEach(kThreads, [&](int64_t) {
    std::unique_lock<std::mutex> lock(mutex);
    threads.insert(std::this_thread::get_id());
    all_came.notify_all();
    all_came.wait(lock, [&] { return threads.size() == kThreads; });
  });
  EXPECT_EQ(threads.size(), static_cast<size_t>(kThreads));
  EXPECT_TRUE(threads.contains(std::this_thread::get_id()));
  EXPECT_EQ(pool.shared_loops(), 1u);
}

// The threads that met in a loop of 64 pieces; each piece waits until `expected` threads have come.
std::set<std::thread::id> ThreadsOfALoop(WorkerPool& pool, size_t expected) {
  std::mutex mutex;
  std::condition_variable all_came;
  std::set<std::thread::id> threads;
  pool.ForEach(64, [&](int64_t) {
    std::unique_lock<std::mutex> lock(mutex);
    threads.insert(std::this_thread::get_id());
    all_came.notify_all();
    all_came.wait(lock, [&] { return threads.size() >= expected; });
  });
  return threads;
}

TEST(WorkerPool, LeavesCpusToBackgroundWorkUntilThatEnds) {
  const auto background = std::make_shared<BackgroundThreads>(0);
  WorkerPool pool(4, 4, background);
  EXPECT_EQ(ThreadsOfALoop(pool, 4).size(), 4u);
  {
    const BackgroundWork two(background, 2);
    EXPECT_EQ(ThreadsOfALoop(pool, 2).size(), 2u);
    const BackgroundWork three_more(background, 3);
    EXPECT_EQ(ThreadsOfALoop(pool, 1), std::set{std::this_thread::get_id()});
  }
  EXPECT_EQ(ThreadsOfALoop(pool, 4).size(), 4u);
}

TEST(WorkerPool, RunsALoopInsideALoopOnTheSameThread) {
  WorkerPool pool(3, 3);
  std::atomic<int> inner{0};
  pool.ForEach(8, [&](int64_t) {
    const std::thread::id outer = std::this_thread::get_id();
    pool.ForEach(5, [&](int64_t) { inner += std::this_thread::get_id() == outer; });
  });
  EXPECT_EQ(inner, 40);
}

TEST(WorkerPool, ServesSeveralCallersAtOnce) {
  WorkerPool pool(3, 3);
  std::atomic<int64_t> sum{0};
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 4; ++caller) {
    callers.emplace_back([&] {
      for (int loop = 0; loop < 100; ++loop) pool.ForEach(10, [&](int64_t k) { sum += k; });
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(sum, 4 * 100 * 45);
}

// A loop leaves what it wrote visible to the caller, and sees what the caller wrote before it.
TEST(WorkerPool, OrdersMemoryBetweenCallerAndWorkers) {
  WorkerPool pool(4, 4);
  std::vector<int> values(257, 0);
  for (int loop = 0; loop < 300; ++loop) {
    pool.ForEach(static_cast<int64_t>(values.size()), [&](int64_t k) { values[static_cast<size_t>(k)] += loop; });
    for (int value : values) ASSERT_EQ(value, loop * (loop + 1) / 2);
  }
}

TEST(WorkerPool, EndsWithWorkersThatNeverHadALoop) {
  const WorkerPool pool(8, 8);
  WorkerPool used(8, 2);
  used.ForEach(2, [](int64_t) {});
}

}  // namespace
}  // namespace hearth
