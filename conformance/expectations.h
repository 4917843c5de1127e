// What each backend is known not to do. Both lists are verified by every run: a case listed as unsupported that a
// device runs, and an expected failure that passes, fail the run, so that the lists cannot go stale.
#ifndef HEARTH_CONFORMANCE_EXPECTATIONS_H_
#define HEARTH_CONFORMANCE_EXPECTATIONS_H_

#include <optional>
#include <span>
#include <string>

#include "core/device/device_info.h"

namespace hearth::conformance {

// Cases by a glob over "op/name"; empty: on every device of the backend, in every configuration.
struct Expectation {
  const char* cases;
  const char* reason;
  const char* device = "";  // part of its name
  const char* path = "";    // part of CaseResult::path
};

// Cases that lowering leaves to the host on this backend.
std::span<const Expectation> Unsupported(std::string_view backend);
// Cases that a device of this backend gets wrong, by a bug that is known and named.
std::span<const Expectation> ExpectedFailures(std::string_view backend);

// The first entry that fits, or null.
const Expectation* FindExpectation(std::span<const Expectation> list, const std::string& id, const std::string& device,
                                   const std::string& path);
bool MatchesGlob(const std::string& text, const std::string& glob);

}  // namespace hearth::conformance

#endif  // HEARTH_CONFORMANCE_EXPECTATIONS_H_
