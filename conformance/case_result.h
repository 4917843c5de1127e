// What a case came to, and how that is noted in a journal.
#ifndef HEARTH_CONFORMANCE_CASE_RESULT_H_
#define HEARTH_CONFORMANCE_CASE_RESULT_H_

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "conformance/expectations.h"
#include "conformance/journal.h"
#include "core/device/device_info.h"

namespace hearth::conformance {

enum class Outcome : uint8_t {
  kPassed,
  kFailed,
  kUnsupported,      // left to the host, as listed
  kExpectedFailure,  // wrong, as listed
};

struct CaseResult {
  std::string op, name, path;  // path: how kernels read and what they store, "buffer", "texel fp16"; "host" on the CPU
  Outcome outcome = Outcome::kPassed;
  std::string detail;   // why it did not pass
  bool judged = false;  // it ran, so the numbers below are valid
  double worst_error = 0, tolerance = 0;
  double milliseconds = 0;  // of its dispatches; 0 if the device has no timer

  std::string id() const { return op + "/" + name; }
};

inline constexpr std::string_view kDied = "the process died, or was killed, while it ran this case";

// Another driver, or another version of it, has other keys.
inline std::string JournalKey(const std::string& device_id, const DeviceInfo& info, const std::string& path,
                              const std::string& case_id) {
  return fmt::format("{} {} {}: {} [{}]", device_id, info.name, info.driver_version, case_id, path);
}
inline Journal::Word WordOf(const CaseResult& result) {
  return result.outcome == Outcome::kPassed ? Journal::Word::kPassed : Journal::Word::kRan;
}

// An expected failure that passes.
inline void FailAsPassed(CaseResult& result, const Expectation& expected) {
  result.outcome = Outcome::kFailed;
  result.detail =
      fmt::format("is listed as an expected failure ({}) but passes: take it off the list", expected.reason);
}

}  // namespace hearth::conformance

#endif  // HEARTH_CONFORMANCE_CASE_RESULT_H_
