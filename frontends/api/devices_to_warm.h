// Which devices `warm` means.
#ifndef HEARTH_FRONTENDS_API_DEVICES_TO_WARM_H_
#define HEARTH_FRONTENDS_API_DEVICES_TO_WARM_H_

#include <string>
#include <vector>

#include "hearth/status.h"

namespace hearth {

// "all" among them is every usable device but the CPU, for which there is nothing to keep. kUnavailable: none.
Result<std::vector<std::string>> DevicesToWarm(const std::vector<std::string>& wanted);

}  // namespace hearth

#endif  // HEARTH_FRONTENDS_API_DEVICES_TO_WARM_H_
