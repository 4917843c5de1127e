// What libhearth_gles-<version>.so gives the files that contain the rest of Hearth (library, plugin, program, Python
// module), which open it when devices are listed. Its interface is C++, so both must come from one build.
#ifndef HEARTH_BACKENDS_GLES_MODULE_H_
#define HEARTH_BACKENDS_GLES_MODULE_H_

#include <memory>
#include <string_view>
#include <vector>

#include "hal/device/device.h"
#include "hal/device/loader_names.h"

namespace hearth {

// A fingerprint of all headers that the interface depends on.
extern const std::string_view kGlesModuleSources;

namespace gles {

// What backend.h promises.
struct Module {
  std::vector<DeviceCandidate> (*enumerate)(const LoaderNames& names);
  Result<std::unique_ptr<Device>> (*open)(const DeviceCandidate& candidate);
  Result<std::unique_ptr<Device>> (*open_shared)(const SharedContext& context);
};

}  // namespace gles
}  // namespace hearth

extern "C" {
__attribute__((visibility("default"))) const hearth::gles::Module* hearth_gles_module();
// kGlesModuleSources where the module was built: ask before the other function.
__attribute__((visibility("default"))) const char* hearth_gles_module_sources();
}

#endif  // HEARTH_BACKENDS_GLES_MODULE_H_
