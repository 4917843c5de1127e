#include "backends/gles/backend.h"

#include "backends/gles/module.h"
#include "core/base/dynamic_library.h"
#include "core/base/error.h"
#include "hal/device/driver_files.h"
#include "hal/device/driver_isolation.h"

namespace hearth {
namespace {

Result<const gles::Module*> OpenModule() {
  HEARTH_ASSIGN(DynamicLibrary library, DynamicLibrary::OpenOurs(HEARTH_GLES_LIBRARY));
  const auto sources = library.Symbol<decltype(&hearth_gles_module_sources)>("hearth_gles_module_sources");
  const auto module = library.Symbol<decltype(&hearth_gles_module)>("hearth_gles_module");
  if (sources == nullptr || module == nullptr || std::string_view(sources()) != kGlesModuleSources) {
    return Error(StatusCode::kUnavailable,
                 HEARTH_GLES_LIBRARY " is of another build; install the one that came with this Hearth");
  }
  library.Leak();  // the driver's threads run as long as the process
  return module();
}

// What is isolated is remembered here, for Device::Compile (hal/device/driver_isolation.h), not in the module.
Result<const gles::Module*> ModuleWithIsolatedDrivers() {
  HEARTH_TRY(IsolateDrivers("gles", GlesDriverFiles));
  static const Result<const gles::Module*> module = OpenModule();
  return module;
}

}  // namespace

std::vector<DeviceCandidate> EnumerateGles() {
  const Result<const gles::Module*> module = ModuleWithIsolatedDrivers();
  if (module.ok()) return (*module)->enumerate(LoaderNamesOn(ThisSystem()));
  return {{.backend = "gles", .name = "OpenGL ES", .unusable_reason = module.status().message()}};
}

Result<std::unique_ptr<Device>> OpenGles(const DeviceCandidate& candidate) {
  HEARTH_ASSIGN(const gles::Module* module, ModuleWithIsolatedDrivers());
  return module->open(candidate);
}

Result<std::unique_ptr<Device>> OpenSharedGles(const SharedContext& context) {
  HEARTH_ASSIGN(const gles::Module* module, ModuleWithIsolatedDrivers());
  return module->open_shared(context);
}

}  // namespace hearth
