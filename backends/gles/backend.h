// OpenGL ES 3.1 compute without a window system: finds and opens its devices.
#ifndef HEARTH_BACKENDS_GLES_BACKEND_H_
#define HEARTH_BACKENDS_GLES_BACKEND_H_

#include <memory>
#include <vector>

#include "backends/gles/driver_libraries.h"
#include "hal/device.h"

namespace hearth {

// Every EGL device, usable or not; where none is usable the surfaceless platform and the default display
// are tried too. Without libEGL or libGLESv2 one unusable candidate says so. Makes a context on each
// display to know, on a thread of its own: the caller's current context stays. Threads: any.
std::vector<DeviceCandidate> EnumerateGles();
// The same with other libraries than the system's.
std::vector<DeviceCandidate> EnumerateGlesFrom(const gles::DriverLibraries& libraries);

// kUnavailable when the candidate is not usable (any more).
Result<std::unique_ptr<Device>> OpenGles(const DeviceCandidate& candidate);

// Works in a context of its own in the share group of the caller's GlContext. kInvalidArgument where that is refused.
Result<std::unique_ptr<Device>> OpenSharedGles(const SharedContext& context);

}  // namespace hearth

#endif  // HEARTH_BACKENDS_GLES_BACKEND_H_
