// Wall time for start-up phases and reports. core has no clock; everything above it uses this one.
#ifndef HEARTH_HAL_DEVICE_STOPWATCH_H_
#define HEARTH_HAL_DEVICE_STOPWATCH_H_

#include <chrono>

namespace hearth {

class Stopwatch {
 public:
  double milliseconds() const {
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace hearth

#endif  // HEARTH_HAL_DEVICE_STOPWATCH_H_
