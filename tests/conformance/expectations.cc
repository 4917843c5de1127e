#include "tests/conformance/expectations.h"

#include <fnmatch.h>

#include <algorithm>

namespace hearth::conformance {
namespace {

// Lowering is one for all GPU backends, so is what it leaves to the host.
constexpr Expectation kNotLowered[] = {
    {"concat/*_tanh", "a tanh behind it would run twice on texels that two inputs share"},
    {"add/2x3x2x3x5_1x3x1x1x5_*", "broadcasting over part of the folded leading dimensions"},
    {"mean/2x3x4x5_over14", "a mean that leaves only the batch, as the last dimension"},
    {"mean/2x3x4x5_over8*", "a mean over channels alone"},
    {"mean/2x3x4x5_over1", "a mean over the batch"},
    {"mean/2x3x4x5_over1_*", "a mean over the batch"},
    {"mean/2x3x4x5_over2*", "a mean over height alone"},
    {"mean/2x2x3x4x5_over4*", "a mean of rank 5"},
};

}  // namespace

std::span<const Expectation> Unsupported(BackendKind backend) {
  if (backend == BackendKind::kCpu) return {};  // the CPU is where the others send what they can't run
  return kNotLowered;
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
