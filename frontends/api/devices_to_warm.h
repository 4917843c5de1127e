// The devices of `warm`.
#ifndef HEARTH_FRONTENDS_API_DEVICES_TO_WARM_H_
#define HEARTH_FRONTENDS_API_DEVICES_TO_WARM_H_

#include <string>
#include <vector>

#include "hearth/status.h"

namespace hearth {

// "all" means every usable device except the CPU, which caches nothing. kUnavailable: none.
Result<std::vector<std::string>> DevicesToWarm(const std::vector<std::string>& wanted);

}  // namespace hearth

#endif  // HEARTH_FRONTENDS_API_DEVICES_TO_WARM_H_
