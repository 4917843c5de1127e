// The shared libraries of the driver. Tests hide the driver by other names than the system's.
#ifndef HEARTH_BACKENDS_GLES_DRIVER_LIBRARIES_H_
#define HEARTH_BACKENDS_GLES_DRIVER_LIBRARIES_H_

#include <vector>

#include "hal/loader_names.h"

namespace hearth::gles {

// The first library of each list that exists is opened.
struct DriverLibraries {
  std::vector<const char*> egl = LoaderNamesOn(ThisSystem()).egl;
  std::vector<const char*> gles = LoaderNamesOn(ThisSystem()).gles;
};

}  // namespace hearth::gles

#endif  // HEARTH_BACKENDS_GLES_DRIVER_LIBRARIES_H_
