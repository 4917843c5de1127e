// Known limits of each backend. Every run verifies both lists: it fails if a device runs a case that is listed as
// unsupported, or if an expected failure passes. So the lists cannot go stale.
#ifndef HEARTH_CONFORMANCE_EXPECTATIONS_H_
#define HEARTH_CONFORMANCE_EXPECTATIONS_H_

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/device/device_info.h"

namespace hearth::conformance {

// Cases by a glob over "op/name". Empty fields mean every device of the backend and every configuration.
struct Expectation {
  std::string_view cases;
  std::string_view reason;
  std::string_view device = "";  // part of its name
  std::string_view path = "";    // part of CaseResult::path
};

// Cases that lowering leaves to the host on this backend.
std::span<const Expectation> Unsupported(std::string_view backend);
// Cases that devices of this backend compute wrongly because of a known bug.
std::span<const Expectation> ExpectedFailures(std::string_view backend);

// The first entry that matches, or null.
const Expectation* FindExpectation(std::span<const Expectation> list, const std::string& id, const std::string& device,
                                   const std::string& path);
bool MatchesGlob(const std::string& text, std::string_view glob);

}  // namespace hearth::conformance

#endif  // HEARTH_CONFORMANCE_EXPECTATIONS_H_
