#include "backends/cpu/host/idle_pages.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <mutex>
#include <vector>

#include "core/base/numbers.h"

namespace hearth {
namespace {

using Pages = std::span<std::byte>;

struct IdleBlocks {
  std::mutex mutex;           // also held while pages move, so that no owner begins meanwhile
  std::vector<Pages> blocks;  // the one that has been idle for longest first
  uint64_t bytes = 0;
  bool can_move = true;

  static IdleBlocks& OfProcess() {
    static auto& blocks = *new IdleBlocks;  // sessions may outlive static objects
    return blocks;
  }

  // Whether `pages` were among them.
  bool Remove(Pages pages) {
    const auto found = std::ranges::find(blocks, pages.data(), &Pages::data);
    if (found == blocks.end()) return false;
    bytes -= found->size();
    blocks.erase(found);
    return true;
  }
};

#ifdef MREMAP_DONTUNMAP
// Gives the first pages of `from` to `to`; the rest goes back to the system.
bool Move(Pages from, Pages to) {
  const size_t moved = std::min(from.size(), to.size());
  constexpr int kFlags = MREMAP_MAYMOVE | MREMAP_FIXED | MREMAP_DONTUNMAP;
  if (::mremap(from.data(), moved, moved, kFlags, to.data()) == MAP_FAILED) return false;
  if (from.size() > moved) static_cast<void>(::madvise(from.data() + moved, from.size() - moved, MADV_DONTNEED));
  return true;
}
#else
bool Move(Pages, Pages) {
  return false;
}
#endif

}  // namespace

RunPages::RunPages(std::span<std::byte> block) {
  const auto page_bytes = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<uintptr_t>(block.data());
  const size_t skipped = RoundUp(begin, page_bytes) - begin;
  if (block.size() < kLeastBytes + skipped) return;
  pages_ = block.subspan(skipped, (block.size() - skipped) / page_bytes * page_bytes);
}

RunPages::~RunPages() {
  if (pages_.empty()) return;
  auto& idle = IdleBlocks::OfProcess();
  const std::lock_guard lock(idle.mutex);
  idle.Remove(pages_);
}

void RunPages::Begin() {
  if (pages_.empty()) return;
  auto& idle = IdleBlocks::OfProcess();
  const std::lock_guard lock(idle.mutex);
  if (idle.Remove(pages_) || !idle.can_move || idle.bytes + pages_.size() <= kMostIdleBytes) return;
  // A much larger block would be emptied for a part of its pages.
  const auto fits = [&](Pages other) { return other.size() / 2 <= pages_.size(); };
  const auto from = std::ranges::find_if(idle.blocks, fits);
  if (from == idle.blocks.end()) return;
  const Pages given = *from;
  idle.can_move = Move(given, pages_);
  if (idle.can_move) idle.Remove(given);
}

void RunPages::End() {
  if (pages_.empty()) return;
  auto& idle = IdleBlocks::OfProcess();
  const std::lock_guard lock(idle.mutex);
  idle.blocks.push_back(pages_);
  idle.bytes += pages_.size();
}

}  // namespace hearth
