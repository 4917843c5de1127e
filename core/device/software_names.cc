#include "core/device/software_names.h"

#include <algorithm>
#include <string>

#include "core/base/text.h"

namespace hearth {

bool IsSoftwareName(std::string_view name) {
  // Mesa's, Google's, and Microsoft's WARP ("Microsoft Basic Render Driver").
  constexpr std::string_view kNames[] = {"llvmpipe",    "lavapipe",     "softpipe",           "swrast",
                                         "swiftshader", "basic render", "software rasterizer"};
  const std::string lower = LowerCase(name);
  return std::ranges::any_of(kNames, [&](std::string_view word) { return lower.find(word) != std::string::npos; });
}

}  // namespace hearth
