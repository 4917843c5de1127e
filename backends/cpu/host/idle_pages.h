// Pages of memory whose content counts during runs only. Many sessions that run by turns need them once.
#ifndef HEARTH_BACKENDS_CPU_HOST_IDLE_PAGES_H_
#define HEARTH_BACKENDS_CPU_HOST_IDLE_PAGES_H_

#include <cstddef>
#include <cstdint>
#include <span>

namespace hearth {

// The whole pages of a block. Once idle blocks of this process hold more than kMostIdleBytes, one that begins a run
// takes over the pages of the block that has been idle for longest, by mremap: its content is lost, its addresses
// stay valid and get zeros. Where the kernel can't do that (before Linux 5.7), every block keeps its pages. Begin and
// End are for one thread at a time.
class RunPages {
 public:
  static constexpr uint64_t kLeastBytes = 1 << 20;  // a smaller block isn't worth the call, of 5 to 50 us
  static constexpr uint64_t kMostIdleBytes = 16 << 20;

  explicit RunPages(std::span<std::byte> block);
  RunPages(const RunPages&) = delete;
  RunPages& operator=(const RunPages&) = delete;
  ~RunPages();

  // Before the first write and after the last read of a run.
  void Begin();
  void End();

 private:
  std::span<std::byte> pages_;  // empty if they are too few
};

// A run, from here to the end of the scope.
class RunOnPages {
 public:
  explicit RunOnPages(RunPages& pages) : pages_(pages) { pages_.Begin(); }
  RunOnPages(const RunOnPages&) = delete;
  RunOnPages& operator=(const RunOnPages&) = delete;
  ~RunOnPages() { pages_.End(); }

 private:
  RunPages& pages_;
};

}  // namespace hearth

#endif  // HEARTH_BACKENDS_CPU_HOST_IDLE_PAGES_H_
