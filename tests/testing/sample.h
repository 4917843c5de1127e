// What every run of the tests leaves to HEARTH_WHOLE=1 (label `slow`): cases that a driver compiles for long, and those
// of a loop that a sanitizer slows down by twenty and more.
#ifndef HEARTH_TESTS_TESTING_SAMPLE_H_
#define HEARTH_TESTS_TESTING_SAMPLE_H_

#include <cstdlib>
#include <string_view>

#include "core/base/sanitizer.h"

namespace hearth::testing {

// Whether all cases are asked for.
inline bool IsWhole() {
  const char* const whole = std::getenv("HEARTH_WHOLE");
  return whole != nullptr && std::string_view(whole) == "1";
}

// Whether case number `index` of a list belongs to the one in `one_in` that every run takes.
inline bool IsInSample(size_t index, size_t one_in) {
  return index % one_in == 0 || IsWhole();
}

// The same for cases that only a sanitizer makes slow: a plain build takes all.
inline bool IsInSanitizersSample(size_t index, size_t one_in) {
  return !kHasSanitizer || IsInSample(index, one_in);
}

// How many of `rounds` random ones a build runs: a sanitizer's one in `one_in`.
inline int SanitizersRounds(int rounds, int one_in) {
  return kHasSanitizer && !IsWhole() ? rounds / one_in : rounds;
}

}  // namespace hearth::testing

#endif  // HEARTH_TESTS_TESTING_SAMPLE_H_
