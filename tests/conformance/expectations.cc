#include "tests/conformance/expectations.h"

#include <fnmatch.h>

#include <algorithm>

namespace hearth::conformance {

std::span<const Expectation> Unsupported(BackendKind) {
  return {};
}

std::span<const Expectation> ExpectedFailures(BackendKind) {
  return {};
}

const Expectation* FindExpectation(std::span<const Expectation> list, const std::string& id) {
  const auto found =
      std::find_if(list.begin(), list.end(), [&](const Expectation& item) { return MatchesGlob(id, item.cases); });
  return found == list.end() ? nullptr : &*found;
}

bool MatchesGlob(const std::string& text, const std::string& glob) {
  return fnmatch(glob.c_str(), text.c_str(), 0) == 0;
}

}  // namespace hearth::conformance
