// Ends a run early: a loop whose end depends on data checks the limits before each turn.
#ifndef HEARTH_CORE_BASE_RUN_LIMIT_H_
#define HEARTH_CORE_BASE_RUN_LIMIT_H_

#include <functional>

#include "hearth/status.h"

namespace hearth {

// During its lifetime, runs on this thread end with the error of `check` as soon as that returns one. `check` may be
// empty.
class RunLimit {
 public:
  using Check = std::function<Status()>;

  explicit RunLimit(Check check);
  ~RunLimit();
  RunLimit(const RunLimit&) = delete;
  RunLimit& operator=(const RunLimit&) = delete;

  // Whether its own check, that of an outer limit, or a limit of the work itself has ended the run. Then another
  // device, or another try, would do no better.
  bool was_reached() const { return was_reached_; }

 private:
  friend Status CheckRunLimits();
  friend Status ReachRunLimit(Status why);

  Check check_;
  RunLimit* around_;
  bool was_reached_ = false;
};

// The error of the innermost limit of this thread that was reached.
Status CheckRunLimits();

// Returns `why`, with which the run ends, and marks this thread's limits as reached.
Status ReachRunLimit(Status why);

// Whether the innermost limit of this thread was reached.
bool WasRunLimitReached();

}  // namespace hearth

#endif  // HEARTH_CORE_BASE_RUN_LIMIT_H_
