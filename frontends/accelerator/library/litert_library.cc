// libLiteRtGpuAccelerator.so, the name that LiteRT's loader opens: what it looks for there is the plugin's. The plugin
// is opened by its path, not linked, because this file may be reached by a symbolic link from LiteRT's own folder,
// beside which the system's loader would look for what the plugin needs.
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

#include "frontends/accelerator/litert_c.h"
#include "hearth/export.h"

// NOLINTBEGIN(readability-identifier-naming): the interface's names
extern "C" {

// The plugin's, once this library is open; without the plugin of version 0, which LiteRT refuses.
HEARTH_EXPORT hearth::litert_c::LiteRtAcceleratorDef LiteRtAcceleratorImpl = {};

}  // extern "C"
// NOLINTEND(readability-identifier-naming)

namespace hearth::litert_c {
namespace {

using RegisterFunction = LiteRtStatus (*)(LiteRtEnvironmentT* environment);

void* OpenPlugin() {
  Dl_info here;
  if (dladdr(&LiteRtAcceleratorImpl, &here) == 0) return nullptr;
  const std::unique_ptr<char, decltype(&std::free)> file(realpath(here.dli_fname, nullptr), &std::free);
  if (file == nullptr) return nullptr;
  std::string path = file.get();
  path.replace(path.rfind('/') + 1, std::string::npos, "libhearth_tflite_delegate.so");
  void* plugin = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (plugin == nullptr) std::fprintf(stderr, "Hearth: %s\n", dlerror());
  return plugin;
}

// Open as long as the process: interpreters call the plugin's kernels after LiteRT has closed this library.
void* const plugin = [] {
  void* opened = OpenPlugin();
  const void* definition = opened == nullptr ? nullptr : dlsym(opened, "LiteRtAcceleratorImpl");
  if (definition != nullptr) std::memcpy(&LiteRtAcceleratorImpl, definition, sizeof LiteRtAcceleratorImpl);
  return opened;
}();

}  // namespace
}  // namespace hearth::litert_c

// NOLINTBEGIN(readability-identifier-naming): the interface's names
extern "C" HEARTH_EXPORT hearth::litert_c::LiteRtStatus LiteRtRegisterGpuAccelerator(
    hearth::litert_c::LiteRtEnvironmentT* environment) {
  using namespace hearth::litert_c;  // NOLINT(google-build-using-namespace): the names of one interface
  const auto call =
      plugin == nullptr ? nullptr : reinterpret_cast<RegisterFunction>(dlsym(plugin, "LiteRtRegisterGpuAccelerator"));
  return call == nullptr ? kLiteRtStatusErrorRuntimeFailure : call(environment);
}
// NOLINTEND(readability-identifier-naming)
