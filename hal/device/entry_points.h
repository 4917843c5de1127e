// The entry points of a binary's programs, one per line, which tell a binary from one of other kernels.
#ifndef HEARTH_HAL_DEVICE_ENTRY_POINTS_H_
#define HEARTH_HAL_DEVICE_ENTRY_POINTS_H_

#include <string_view>

namespace hearth {

// Whether each line of `wanted` is a line of `held`. Both end with a line break.
inline bool HoldsLines(std::string_view held, std::string_view wanted) {
  if (!held.ends_with('\n')) return false;
  while (!wanted.empty()) {
    const std::string_view line = wanted.substr(0, wanted.find('\n') + 1);
    size_t at = held.find(line);
    while (at != std::string_view::npos && at != 0 && held[at - 1] != '\n') at = held.find(line, at + 1);
    if (line.empty() || at == std::string_view::npos) return false;
    wanted.remove_prefix(line.size());
  }
  return true;
}

}  // namespace hearth

#endif  // HEARTH_HAL_DEVICE_ENTRY_POINTS_H_
