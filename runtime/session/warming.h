// For filling the cache ahead of time.
#ifndef HEARTH_RUNTIME_SESSION_WARMING_H_
#define HEARTH_RUNTIME_SESSION_WARMING_H_

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>

#include "core/base/error.h"

namespace hearth {

// Says that something made for later starts could not be stored; the cache's own message is among the warnings.
inline Status CheckAllStored(uint64_t put_errors, std::span<const std::string> warnings) {
  if (put_errors == 0) return Status::Ok();
  const auto found =
      std::ranges::find_if(warnings, [](const std::string& warning) { return warning.starts_with("cache: "); });
  const std::string why = found != warnings.end() ? *found : warnings.empty() ? "no reason is told" : warnings[0];
  return Error(StatusCode::kIoError, "{} of its entries could not be stored: {}", put_errors, why);
}

}  // namespace hearth

#endif  // HEARTH_RUNTIME_SESSION_WARMING_H_
