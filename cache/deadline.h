// A point in time that all parts of a call share: time that one part takes is not left for the next.
#ifndef HEARTH_CACHE_DEADLINE_H_
#define HEARTH_CACHE_DEADLINE_H_

#include <algorithm>
#include <chrono>
#include <functional>

namespace hearth {

class Deadline {
 public:
  using Clock = std::function<std::chrono::steady_clock::time_point()>;  // tests set their own

  explicit Deadline(int wait_ms, Clock clock = std::chrono::steady_clock::now)
      : clock_(std::move(clock)), end_(clock_() + std::chrono::milliseconds(wait_ms)) {}

  // The time left in milliseconds, rounded up so that a wait does not end too early; 0 if it is over.
  int left_ms() const {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end_ - clock_());
    return static_cast<int>(std::max<int64_t>(0, left.count()));
  }
  bool is_over() const { return left_ms() == 0; }

 private:
  Clock clock_;
  std::chrono::steady_clock::time_point end_;
};

}  // namespace hearth

#endif  // HEARTH_CACHE_DEADLINE_H_
