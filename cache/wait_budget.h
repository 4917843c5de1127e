// How long a session may wait for others. One budget for all locks and servers together, so that a start is held up by
// no more than that, however many of them are slow; it then goes on without them.
#ifndef HEARTH_CACHE_WAIT_BUDGET_H_
#define HEARTH_CACHE_WAIT_BUDGET_H_

#include <atomic>
#include <cstdint>

namespace hearth {

// Thread-safe.
class WaitBudget {
 public:
  explicit WaitBudget(int total_ms) : total_us_(int64_t{1000} * total_ms) {}

  double left_ms() const;  // 0 when it is spent
  double waited_ms() const;
  void Spend(double ms);  // a wait that took place elsewhere

  // Sleeps `ms`, or what is left where that is less; false, at once, where nothing is left.
  bool Sleep(double ms);

 private:
  const int64_t total_us_;
  std::atomic<int64_t> waited_us_{0};
};

struct SessionWaits {
  explicit SessionWaits(int others_ms = 250, int makers_ms = 2000) : others(others_ms), makers(makers_ms) {}
  WaitBudget others;  // locks and servers
  WaitBudget makers;  // processes that are making what this one needs
};

}  // namespace hearth

#endif  // HEARTH_CACHE_WAIT_BUDGET_H_
