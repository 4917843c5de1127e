#include "core/base/run_limit.h"

#include <utility>

namespace hearth {
namespace {

thread_local RunLimit* innermost_limit = nullptr;

}  // namespace

RunLimit::RunLimit(Check check) : check_(std::move(check)), around_(innermost_limit) {
  innermost_limit = this;
}

RunLimit::~RunLimit() {
  innermost_limit = around_;
}

Status CheckRunLimits() {
  for (const RunLimit* limit = innermost_limit; limit != nullptr; limit = limit->around_) {
    if (!limit->check_) continue;
    Status status = limit->check_();
    if (!status.ok()) return ReachRunLimit(std::move(status));
  }
  return Status::Ok();
}

Status ReachRunLimit(Status why) {
  for (RunLimit* limit = innermost_limit; limit != nullptr; limit = limit->around_) limit->was_reached_ = true;
  return why;
}

bool WasRunLimitReached() {
  return innermost_limit != nullptr && innermost_limit->was_reached();
}

}  // namespace hearth
