#include "core/plan/plan.h"

#include <algorithm>

namespace hearth {

bool Plan::runs_on_cpu() const {
  return std::ranges::any_of(segments, [](const Segment& segment) { return segment.executor == Executor::kCpu; });
}

}  // namespace hearth
