// What may end a run early: a loop whose end depends on data asks before each iteration.
#ifndef HEARTH_CORE_BASE_RUN_CONTROL_H_
#define HEARTH_CORE_BASE_RUN_CONTROL_H_

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "hearth/status.h"

namespace hearth {

// Of one run, on its thread.
class RunControl {
 public:
  using Check = std::function<Status()>;

  // A trial run has made-up inputs: before a model's first real run, to make drivers compile, and to measure times. A
  // loop whose end depends on data may never end on zeros, so in a trial it ends after this many iterations, with its
  // current values: nobody reads the outputs.
  static constexpr int64_t kTrialIterations = 100;
  static RunControl ForTrial() {
    RunControl control;
    control.is_trial_ = true;
    return control;
  }
  bool is_trial() const { return is_trial_; }

  // The run ends with the error of `check` as soon as that returns one. Empty: no limit.
  void EndBy(Check check) {
    if (check) checks_.push_back(std::move(check));
  }
  // The error of the first check that ends the run.
  Status CheckGoesOn() {
    for (const Check& check : checks_) {
      Status status = check();
      if (!status.ok()) return End(std::move(status));
    }
    return Status::Ok();
  }
  // The run ends with this error because of a limit of the work itself.
  Status End(Status why) {
    was_ended_ = true;
    return why;
  }
  // Whether the run was ended. Then another device, or another try, would do no better.
  bool was_ended() const { return was_ended_; }

 private:
  std::vector<Check> checks_;
  bool is_trial_ = false, was_ended_ = false;
};

}  // namespace hearth

#endif  // HEARTH_CORE_BASE_RUN_CONTROL_H_
