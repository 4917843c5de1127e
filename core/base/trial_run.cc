#include "core/base/trial_run.h"

namespace hearth {
namespace {

thread_local int trials = 0;  // that live on this thread

}  // namespace

TrialRun::TrialRun() {
  ++trials;
}

TrialRun::~TrialRun() {
  --trials;
}

bool TrialRun::IsNow() {
  return trials > 0;
}

}  // namespace hearth
