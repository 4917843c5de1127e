// The time that a session may wait for others. One budget covers all locks and servers, so that a start waits no longer
// however many of them are slow; then it goes on without them.
#ifndef HEARTH_CACHE_FILES_WAIT_BUDGET_H_
#define HEARTH_CACHE_FILES_WAIT_BUDGET_H_

#include <atomic>
#include <cstdint>

namespace hearth {

// Thread-safe.
class WaitBudget {
 public:
  explicit WaitBudget(int total_ms) : total_us_(int64_t{1000} * total_ms) {}

  double total_ms() const { return static_cast<double>(total_us_) / 1000; }
  double left_ms() const;  // 0 if it is spent
  double waited_ms() const;
  void Spend(double ms);  // counts a wait that took place elsewhere

  // Sleeps `ms`, or what is left if that is less. Returns false at once if nothing is left.
  bool Sleep(double ms);

 private:
  const int64_t total_us_;
  std::atomic<int64_t> waited_us_{0};
};

constexpr int kDefaultWaitMs = 250;  // a session's default wait for others

struct SessionWaits {
  explicit SessionWaits(int others_ms = kDefaultWaitMs, int makers_ms = 2000) : others(others_ms), makers(makers_ms) {}
  WaitBudget others;  // locks and servers
  WaitBudget makers;  // processes that are making an entry which this session needs
};

// A session's waits for its cache server: at most `lost_ms` and one more command, 75 ms in all.
struct ServerWaits {
  int connect_ms = 25;  // for the name, the connection, TLS and logging in together
  int command_ms = 25;  // for sending a command and its whole answer
  double lost_ms = 50;  // the server is not used any more after taking this much longer than making would have
};

// The limits grow with a budget above kDefaultWaitMs: with that, a farm with a far or busy server says that waiting is
// cheaper than compiling.
ServerWaits ServerWaitsOf(double total_ms);

}  // namespace hearth

#endif  // HEARTH_CACHE_FILES_WAIT_BUDGET_H_
