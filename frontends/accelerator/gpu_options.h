// Options of the accelerator: LiteRT's GPU options, then the environment.
#ifndef HEARTH_FRONTENDS_ACCELERATOR_GPU_OPTIONS_H_
#define HEARTH_FRONTENDS_ACCELERATOR_GPU_OPTIONS_H_

#include <string>
#include <string_view>
#include <vector>

#include "frontends/delegate/delegate_options.h"

namespace hearth {

// Under this name LiteRT hands GPU options to accelerators, as lines of TOML.
inline constexpr const char* kGpuOptionsIdentifier = "gpu_options";

// `toml`: LiteRT's options; empty: none. `variables`: "NAME=value" of the environment's that begin with HEARTH_, which
// count more: HEARTH_DEVICE, HEARTH_PRECISION and so on for each option of the plugin; HEARTH_LOG_FILE for `log`, since
// HEARTH_LOG is the library's own. The device is the first hardware GPU, and the cache on, unless they say otherwise.
Result<DelegateOptions> AcceleratorOptions(std::string_view toml, const std::vector<std::string>& variables);

}  // namespace hearth

#endif  // HEARTH_FRONTENDS_ACCELERATOR_GPU_OPTIONS_H_
