// Selects cases that run only with HEARTH_WHOLE=1 (label `slow`): those that drivers compile for long, and those of a
// loop that a sanitizer slows down twentyfold and more.
#ifndef HEARTH_TESTS_TESTING_SAMPLE_H_
#define HEARTH_TESTS_TESTING_SAMPLE_H_

#include <cstdlib>
#include <string_view>

#include "core/base/sanitizer.h"

namespace hearth::testing {

// Whether all cases run.
inline bool IsWhole() {
  const char* const whole = std::getenv("HEARTH_WHOLE");
  return whole != nullptr && std::string_view(whole) == "1";
}

// Whether case number `index` of a list is the one in `one_in` that every run includes.
inline bool IsInSample(size_t index, size_t one_in) {
  return index % one_in == 0 || IsWhole();
}

// The same for cases that only a sanitizer makes slow: a plain build runs all.
inline bool IsInSanitizersSample(size_t index, size_t one_in) {
  return !kHasSanitizer || IsInSample(index, one_in);
}

// The number of random rounds that a build runs: with a sanitizer one in `one_in` of `rounds`.
inline int SanitizersRounds(int rounds, int one_in) {
  return kHasSanitizer && !IsWhole() ? rounds / one_in : rounds;
}

}  // namespace hearth::testing

#endif  // HEARTH_TESTS_TESTING_SAMPLE_H_
