// Which shared libraries hold the driver; other names than the system's let tests hide it.
#ifndef HEARTH_BACKENDS_GLES_DRIVER_LIBRARIES_H_
#define HEARTH_BACKENDS_GLES_DRIVER_LIBRARIES_H_

#include <vector>

namespace hearth::gles {

// The first library of each list that exists is opened. Names without a version are Android's.
struct DriverLibraries {
  std::vector<const char*> egl = {"libEGL.so.1", "libEGL.so"};
  std::vector<const char*> gles = {"libGLESv2.so.2", "libGLESv2.so"};
};

}  // namespace hearth::gles

#endif  // HEARTH_BACKENDS_GLES_DRIVER_LIBRARIES_H_
