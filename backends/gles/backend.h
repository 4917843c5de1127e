// OpenGL ES 3.1 compute without a window system: finds and opens its devices. The backend's code is a library of its
// own, libhearth_gles-<version>.so (module.h), because libepoxy, which it is linked with, is not on every machine.
#ifndef HEARTH_BACKENDS_GLES_BACKEND_H_
#define HEARTH_BACKENDS_GLES_BACKEND_H_

#include <memory>
#include <vector>

#include "hal/device/device.h"

namespace hearth {

// Every EGL device, usable or not. If none is usable, the surfaceless platform and the default display are tried too.
// Without the library, libepoxy, libEGL or libGLESv2 there is one unusable candidate that says so. Makes a context on
// each display, on a thread of its own, so the caller's current context does not change. Threads: any.
std::vector<DeviceCandidate> EnumerateGles();

// kUnavailable if the candidate is not usable, or no longer is.
Result<std::unique_ptr<Device>> OpenGles(const DeviceCandidate& candidate);

// Works in its own context in the share group of the caller's GlContext. kInvalidArgument if the driver refuses that.
Result<std::unique_ptr<Device>> OpenSharedGles(const SharedContext& context);

}  // namespace hearth

#endif  // HEARTH_BACKENDS_GLES_BACKEND_H_
