#include "cache/files/wait_budget.h"

#include <algorithm>
#include <chrono>
#include <thread>

namespace hearth {

double WaitBudget::left_ms() const {
  return static_cast<double>(std::max<int64_t>(0, total_us_ - waited_us_)) / 1000;
}

double WaitBudget::waited_ms() const {
  return static_cast<double>(waited_us_) / 1000;
}

void WaitBudget::Spend(double ms) {
  waited_us_ += static_cast<int64_t>(1000 * ms);
}

bool WaitBudget::Sleep(double ms) {
  const double allowed_ms = std::min(ms, left_ms());
  if (allowed_ms <= 0) return false;
  using Milliseconds = std::chrono::duration<double, std::milli>;
  const auto start = std::chrono::steady_clock::now();
  std::this_thread::sleep_for(Milliseconds(allowed_ms));
  Spend(Milliseconds(std::chrono::steady_clock::now() - start).count());
  return true;
}

ServerWaits ServerWaitsOf(double total_ms) {
  ServerWaits waits;
  const double times = std::max(1.0, total_ms / kDefaultWaitMs);
  waits.connect_ms = static_cast<int>(waits.connect_ms * times);
  waits.command_ms = static_cast<int>(waits.command_ms * times);
  waits.lost_ms *= times;
  return waits;
}

}  // namespace hearth
