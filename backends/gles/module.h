// What libhearth_gles-<version>.so gives the files that contain the rest of Hearth (library, plugin, program, Python
// module), which open it when devices are listed. Its interface is C++, so both must come from one build.
#ifndef HEARTH_BACKENDS_GLES_MODULE_H_
#define HEARTH_BACKENDS_GLES_MODULE_H_

#include <memory>
#include <string_view>
#include <vector>

#include "hal/device.h"

namespace hearth {

// A fingerprint of all headers that the interface depends on.
extern const std::string_view kGlesModuleSources;

namespace gles {

struct Module {
  std::string_view sources;  // kGlesModuleSources where it was built
  std::vector<DeviceCandidate> (*enumerate)();
  Result<std::unique_ptr<Device>> (*open)(const DeviceCandidate& candidate);
  Result<std::unique_ptr<Device>> (*open_shared)(const SharedContext& context);
};
using ModuleFn = const Module* (*)();

}  // namespace gles
}  // namespace hearth

#endif  // HEARTH_BACKENDS_GLES_MODULE_H_
