// The limit for waiting for a device, and whether it was exceeded.
#ifndef HEARTH_HAL_DEVICE_WAIT_LIMIT_H_
#define HEARTH_HAL_DEVICE_WAIT_LIMIT_H_

#include <atomic>
#include <chrono>

#include "core/base/error.h"

namespace hearth {

// Thread-safe.
class WaitLimit {
 public:
  using Duration = std::chrono::nanoseconds;

  void Set(Duration limit) { limit_ns_ = limit.count(); }
  Duration limit() const { return Duration(limit_ns_.load()); }  // zero: none
  bool is_set() const { return limit_ns_ > 0; }
  // From then on nothing waits for the device or submits to it, and objects that it may be using are kept.
  bool has_hung() const { return has_hung_; }

  // kDeviceLost once the device has hung.
  Status Check() const { return has_hung_ ? Lost() : Status::Ok(); }
  // Records that the device has hung.
  Status Over() {
    has_hung_ = true;
    return Lost();
  }

 private:
  Status Lost() const {
    return Error(
        StatusCode::kDeviceLost,
        "the device did not finish within {} ms and counts as lost; wait_limit_ms sets a longer limit, or none",
        static_cast<double>(limit_ns_.load()) * 1e-6);
  }

  std::atomic<int64_t> limit_ns_ = 0;
  std::atomic<bool> has_hung_ = false;
};

}  // namespace hearth

#endif  // HEARTH_HAL_DEVICE_WAIT_LIMIT_H_
