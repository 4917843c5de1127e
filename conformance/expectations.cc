#include "conformance/expectations.h"

#include <fnmatch.h>

#include <algorithm>

namespace hearth::conformance {

std::span<const Expectation> Unsupported(std::string_view backend) {
  static constexpr Expectation kOfDevices[] = {
      {"cast/float*_int64", "a device's integers have 32 bits, real numbers may need 64", "", ""},
  };
  return backend == "cpu" ? std::span<const Expectation>() : kOfDevices;
}

std::span<const Expectation> ExpectedFailures(std::string_view backend) {
  // SwiftShader (driver 5.0.0, Debian's chromium-common 156): an infinity stored as float16 reads back as NaN.
  static constexpr Expectation kVulkan[] = {
      {"exp/extreme_numbers", "infinity in float16 is read back as NaN", "SwiftShader", "fp16"},
      {"div/*_by_zero", "infinity in float16 is read back as NaN", "SwiftShader", "fp16"},
  };
  return backend == "vulkan" ? kVulkan : std::span<const Expectation>();
}

const Expectation* FindExpectation(std::span<const Expectation> list, const std::string& id, const std::string& device,
                                   const std::string& path) {
  const auto found = std::find_if(list.begin(), list.end(), [&](const Expectation& item) {
    return MatchesGlob(id, item.cases) && device.find(item.device) != std::string::npos &&
           path.find(item.path) != std::string::npos;
  });
  return found == list.end() ? nullptr : &*found;
}

bool MatchesGlob(const std::string& text, std::string_view glob) {
  return fnmatch(std::string(glob).c_str(), text.c_str(), 0) == 0;
}

}  // namespace hearth::conformance
