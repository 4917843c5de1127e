// What ends a run early: a loop that only data end looks at it before each turn.
#ifndef HEARTH_CORE_BASE_RUN_LIMIT_H_
#define HEARTH_CORE_BASE_RUN_LIMIT_H_

#include <functional>

#include "hearth/status.h"

namespace hearth {

// While it lives, what this thread runs ends with the error of `check`, which may be empty, as soon as that gives one.
class RunLimit {
 public:
  using Check = std::function<Status()>;

  explicit RunLimit(Check check);
  ~RunLimit();
  RunLimit(const RunLimit&) = delete;
  RunLimit& operator=(const RunLimit&) = delete;

  // Its own check, another one around it, or a limit of the work itself has ended the run: another device, or another
  // try, would do no better.
  bool was_reached() const { return was_reached_; }

 private:
  friend Status CheckRunLimits();
  friend Status ReachRunLimit(Status why);

  Check check_;
  RunLimit* around_;
  bool was_reached_ = false;
};

// The error of the innermost limit of this thread that is reached.
Status CheckRunLimits();

// Gives `why` back: the run ends with it, and the limits of this thread count as reached.
Status ReachRunLimit(Status why);

// Whether the innermost limit of this thread was.
bool WasRunLimitReached();

}  // namespace hearth

#endif  // HEARTH_CORE_BASE_RUN_LIMIT_H_
