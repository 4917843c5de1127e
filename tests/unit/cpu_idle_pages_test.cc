#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "backends/cpu/host/idle_pages.h"
#include "core/base/large_pages.h"

namespace hearth {
namespace {

constexpr size_t kBlockBytes = 5 << 20;

struct Block {
  LargePageMemory memory = AllocateInLargePages(kBlockBytes);
  std::span<std::byte> bytes{memory.get(), kBlockBytes};
  RunPages pages{bytes};

  // Whether what a run writes stays until it ends.
  bool RunWith(std::byte number) {
    const RunOnPages use(pages);
    std::ranges::fill(bytes, number);
    return std::ranges::all_of(bytes, [&](std::byte found) { return found == number; });
  }

  size_t resident_bytes() const {
    const auto page_bytes = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    std::vector<unsigned char> states(kBlockBytes / page_bytes);
    EXPECT_EQ(mincore(memory.get(), kBlockBytes, states.data()), 0);
    return page_bytes * static_cast<size_t>(std::ranges::count_if(states, [](auto state) { return (state & 1) != 0; }));
  }
};

bool PagesCanMove() {
#ifdef MREMAP_DONTUNMAP
  Block from, to;
  constexpr int kFlags = MREMAP_MAYMOVE | MREMAP_FIXED | MREMAP_DONTUNMAP;
  return mremap(from.memory.get(), kBlockBytes, kBlockBytes, kFlags, to.memory.get()) != MAP_FAILED;
#else
  return false;
#endif
}

TEST(IdlePages, AreHeldOnceByManyBlocksThatRunByTurns) {
  if (!PagesCanMove()) GTEST_SKIP() << "the kernel has no MREMAP_DONTUNMAP (Linux 5.7)";
  std::vector<std::unique_ptr<Block>> blocks;
  for (int k = 0; k < 12; ++k) blocks.push_back(std::make_unique<Block>());
  for (int turn = 0; turn < 3; ++turn) {
    for (auto& block : blocks) EXPECT_TRUE(block->RunWith(std::byte{7}));
  }
  size_t resident_bytes = 0;
  for (auto& block : blocks) resident_bytes += block->resident_bytes();
  EXPECT_LE(resident_bytes, RunPages::kMostIdleBytes + kBlockBytes);
}

TEST(IdlePages, StayWithFewBlocks) {
  Block first, second;
  for (Block* block : {&first, &second}) EXPECT_TRUE(block->RunWith(std::byte{7}));
  EXPECT_EQ(first.bytes.front(), std::byte{7});
  EXPECT_EQ(first.resident_bytes(), kBlockBytes);
}

TEST(IdlePages, LeaveARunsContentAloneWhileOthersRun) {
  constexpr int kThreads = 3, kBlocks = 4;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([thread] {
      std::minstd_rand choose(static_cast<unsigned>(thread + 1));
      std::vector<std::unique_ptr<Block>> blocks;
      for (int k = 0; k < kBlocks; ++k) blocks.push_back(std::make_unique<Block>());
      for (int turn = 0; turn < 12; ++turn)
        EXPECT_TRUE(blocks[choose() % kBlocks]->RunWith(std::byte(16 * thread + turn)));
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace hearth
