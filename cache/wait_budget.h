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

  double total_ms() const { return static_cast<double>(total_us_) / 1000; }
  double left_ms() const;  // 0 when it is spent
  double waited_ms() const;
  void Spend(double ms);  // a wait that took place elsewhere

  // Sleeps `ms`, or what is left where that is less; false, at once, where nothing is left.
  bool Sleep(double ms);

 private:
  const int64_t total_us_;
  std::atomic<int64_t> waited_us_{0};
};

constexpr int kDefaultWaitMs = 250;  // what a session waits for others unless told

struct SessionWaits {
  explicit SessionWaits(int others_ms = kDefaultWaitMs, int makers_ms = 2000) : others(others_ms), makers(makers_ms) {}
  WaitBudget others;  // locks and servers
  WaitBudget makers;  // processes that are making what this one needs
};

// What a session waits for its cache server: `lost_ms` and one command more, 75 ms in all.
struct ServerWaits {
  int connect_ms = 25;  // for the name, the connection, TLS and logging in together
  int command_ms = 25;  // for sending a command and the whole of its answer
  double lost_ms = 50;  // nothing more is asked once the server took this much longer than making would have
};

// The limits grow with a budget over kDefaultWaitMs: a farm whose server is far away or busy says with the budget that
// waiting is cheaper than compiling.
ServerWaits ServerWaitsOf(double total_ms);

}  // namespace hearth

#endif  // HEARTH_CACHE_WAIT_BUDGET_H_
