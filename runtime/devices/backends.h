// The backends of this build: the one list to extend when a backend is added.
#ifndef HEARTH_RUNTIME_DEVICES_BACKENDS_H_
#define HEARTH_RUNTIME_DEVICES_BACKENDS_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hal/device/device.h"

namespace hearth {

// In the order in which `auto` prefers them among devices of one type; the CPU is last.
std::span<const BackendDef> Backends();
// Without the CPU.
std::span<const BackendDef> GpuBackends();
// The names of those.
std::vector<std::string> BackendNames();
const BackendDef* FindGpuBackend(std::string_view name);  // null when this build has none of that name

}  // namespace hearth

#endif  // HEARTH_RUNTIME_DEVICES_BACKENDS_H_
