// For filling the cache ahead of time.
#ifndef HEARTH_FRONTENDS_API_WARMING_H_
#define HEARTH_FRONTENDS_API_WARMING_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "hearth/status.h"

namespace hearth {

// The devices of `warm`. "all" means every usable device except the CPU, which caches nothing. kUnavailable: none.
Result<std::vector<std::string>> DevicesToWarm(const std::vector<std::string>& wanted);

// Says that something made for later starts could not be stored; the cache's own message is among the warnings.
Status CheckAllStored(uint64_t put_errors, std::span<const std::string> warnings);

}  // namespace hearth

#endif  // HEARTH_FRONTENDS_API_WARMING_H_
