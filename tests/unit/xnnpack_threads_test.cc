// XNNPACK on Hearth's own threads.
#include <gtest/gtest.h>

#include <atomic>
#include <limits>
#include <vector>

#include "backends/cpu/xnnpack/own_threads.h"

namespace hearth {
namespace {

// Otherwise it would wait awake where threads share a core, and nothing but time would tell.
TEST(XnnpackThreads, AreHearthsOwn) {
  ASSERT_TRUE(XnnpackCallsOwnThreads());
  WorkerPool workers(3, 3);
  const XnnpackPool pool(workers);
  EXPECT_EQ(pthreadpool_get_threads_count(pool.get()), 3u);
}

TEST(XnnpackThreads, OneThreadIsTheCaller) {
  WorkerPool workers(1, 1);
  const XnnpackPool pool(workers);
  EXPECT_EQ(pool.get(), nullptr);
  EXPECT_EQ(pthreadpool_get_threads_count(nullptr), 1u);
}

// Each point of a grid once, with tiles cut at the end.
TEST(XnnpackThreads, TilesCoverTheGridOnce) {
  WorkerPool workers(3, 3);
  const XnnpackPool pool(workers);
  constexpr size_t kSizes[] = {2, 3, 7, 5};
  struct Grid {
    std::vector<std::atomic<int>> visits = std::vector<std::atomic<int>>(2 * 3 * 7 * 5);
  } grid;
  pthreadpool_parallelize_4d_tile_2d(
      pool.get(),
      [](void* context, size_t i, size_t j, size_t k, size_t l, size_t tile_k, size_t tile_l) {
        EXPECT_LE(tile_k, 3u);
        EXPECT_LE(tile_l, 2u);
        for (size_t dk = 0; dk < tile_k; ++dk) {
          for (size_t dl = 0; dl < tile_l; ++dl) {
            ++static_cast<Grid*>(context)->visits[((i * 3 + j) * 7 + k + dk) * 5 + l + dl];
          }
        }
      },
      &grid, kSizes[0], kSizes[1], kSizes[2], kSizes[3], 3, 2, 0);
  for (const std::atomic<int>& visits : grid.visits) EXPECT_EQ(visits, 1);
}

TEST(XnnpackThreads, AnEmptyGridCallsNothing) {
  WorkerPool workers(2, 2);
  const XnnpackPool pool(workers);
  pthreadpool_parallelize_2d_tile_1d(
      pool.get(), [](void*, size_t, size_t, size_t) { ADD_FAILURE(); }, nullptr, 3, 0, 4, 0);
}

TEST(XnnpackThreads, DenormalsAreZeroOnlyInsideAndOnlyWhenAsked) {
  static volatile float tiny = std::numeric_limits<float>::denorm_min();
  static std::atomic<int> zeros;
  const auto count_zeros = [](void*, size_t) { zeros += tiny * 1.0f == 0.0f; };
  WorkerPool workers(2, 2);
  const XnnpackPool pool(workers);
  for (pthreadpool_t used : {pool.get(), pthreadpool_t{nullptr}}) {
    zeros = 0;
    pthreadpool_parallelize_1d(used, count_zeros, nullptr, 8, 0);
    EXPECT_EQ(zeros, 0);
    pthreadpool_parallelize_1d(used, count_zeros, nullptr, 8, PTHREADPOOL_FLAG_DISABLE_DENORMALS);
    EXPECT_EQ(zeros, 8);
    EXPECT_NE(tiny * 1.0f, 0.0f);
  }
}

// Another library of the process may own pools of libpthreadpool's, and find these functions first too.
TEST(XnnpackThreads, PoolsOfLibpthreadpoolStillWork) {
  // Before the pool's threads: ThreadSanitizer sees their start, and not how Debian's library hands them work.
  std::atomic<int> calls{0};
  const pthreadpool_t pool = pthreadpool_create(2);
  ASSERT_NE(pool, nullptr);
  EXPECT_EQ(pthreadpool_get_threads_count(pool), 2u);
  pthreadpool_parallelize_1d(
      pool, [](void* context, size_t) { ++*static_cast<std::atomic<int>*>(context); }, &calls, 10, 0);
  EXPECT_EQ(calls, 10);
  pthreadpool_destroy(pool);
}

}  // namespace
}  // namespace hearth
