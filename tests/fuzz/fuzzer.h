// What each fuzzer defines and uses. One program each: libFuzzer (https://llvm.org/docs/LibFuzzer.html) calls FuzzOne
// with bytes that it changes until the code takes new ways.
#ifndef HEARTH_TESTS_FUZZ_FUZZER_H_
#define HEARTH_TESTS_FUZZ_FUZZER_H_

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <span>

namespace hearth {

void FuzzOne(std::span<const std::byte> bytes);

// Ends the program, which libFuzzer reports with the input, where `holds` is false.
inline void Expect(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::abort();
}

}  // namespace hearth

#endif  // HEARTH_TESTS_FUZZ_FUZZER_H_
