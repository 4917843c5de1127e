// Runs whose inputs nobody meant: before a model's first real run, for what drivers compile late, and for times.
#ifndef HEARTH_CORE_BASE_TRIAL_RUN_H_
#define HEARTH_CORE_BASE_TRIAL_RUN_H_

#include <cstdint>

namespace hearth {

// While one lives, the runs of its thread are such. A loop that only data end may go on for ever on zeros, so it ends
// after kMostTurns turns there, with whatever it holds then: nobody reads the outputs.
class TrialRun {
 public:
  static constexpr int64_t kMostTurns = 100;

  TrialRun();
  ~TrialRun();
  TrialRun(const TrialRun&) = delete;
  TrialRun& operator=(const TrialRun&) = delete;

  // Whether the calling thread's runs are.
  static bool IsNow();
};

}  // namespace hearth

#endif  // HEARTH_CORE_BASE_TRIAL_RUN_H_
