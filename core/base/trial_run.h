// Marks runs on made-up inputs: before a model's first real run, to make drivers compile, and to measure times.
#ifndef HEARTH_CORE_BASE_TRIAL_RUN_H_
#define HEARTH_CORE_BASE_TRIAL_RUN_H_

#include <cstdint>

namespace hearth {

// During its lifetime, the runs of its thread are trial runs. A loop whose end depends on data may never end on zeros,
// so in a trial run it ends after kMostTurns turns, with its current values: nobody reads the outputs.
class TrialRun {
 public:
  static constexpr int64_t kMostTurns = 100;

  TrialRun();
  ~TrialRun();
  TrialRun(const TrialRun&) = delete;
  TrialRun& operator=(const TrialRun&) = delete;

  // Whether the calling thread's runs are trial runs.
  static bool IsNow();
};

}  // namespace hearth

#endif  // HEARTH_CORE_BASE_TRIAL_RUN_H_
