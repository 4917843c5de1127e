#include "tests/fault/driver_calls.h"

namespace hearth::testing {

void DriverCalls::Start(int call, DriverFault fault) {
  const std::scoped_lock lock(mutex_);
  is_counting_ = true;
  has_failed_ = false;
  call_ = call;
  fault_ = fault;
  names_.clear();
}

std::vector<std::string> DriverCalls::Stop() {
  const std::scoped_lock lock(mutex_);
  is_counting_ = false;
  return std::exchange(names_, {});
}

std::optional<DriverFault> DriverCalls::Next(const char* name) {
  const std::scoped_lock lock(mutex_);
  if (!is_counting_) return std::nullopt;
  names_.emplace_back(name);
  const int call = static_cast<int>(names_.size());
  const bool fails = call == call_ || (fault_ == DriverFault::kLost && call_ != 0 && call > call_);
  if (!fails) return std::nullopt;
  has_failed_ = true;
  return fault_;
}

bool DriverCalls::has_failed() const {
  const std::scoped_lock lock(mutex_);
  return has_failed_;
}

void DriverCalls::NoteMade(int objects) {
  const std::scoped_lock lock(mutex_);
  held_objects_ += objects;
}

int DriverCalls::held_objects() const {
  const std::scoped_lock lock(mutex_);
  return held_objects_;
}

DriverCalls& TheDriverCalls() {
  static DriverCalls calls;
  return calls;
}

}  // namespace hearth::testing
