#include "core/plan/plan.h"

namespace hearth {

size_t Plan::dispatch_count() const {
  size_t count = 0;
  for (const Step& step : steps) count += std::holds_alternative<Dispatch>(step) ? 1 : 0;
  return count;
}

bool Plan::has_host_steps() const {
  return dispatch_count() != steps.size();
}

}  // namespace hearth
