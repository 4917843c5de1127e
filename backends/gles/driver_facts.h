// Reads a context's limits and abilities. Nothing else fills DeviceInfo for OpenGL ES.
#ifndef HEARTH_BACKENDS_GLES_DRIVER_FACTS_H_
#define HEARTH_BACKENDS_GLES_DRIVER_FACTS_H_

#include <cstdint>
#include <vector>

#include "backends/gles/display.h"
#include "core/device/device_info.h"
#include "hearth/status.h"

namespace hearth::gles {

// The driver's answers: `info` is for core, the rest is for this backend.
struct DriverFacts {
  DeviceInfo info;
  std::vector<GLint> binary_formats;
  bool parallel_compile = false;
  bool timer_query = false;
  bool reset_status = false;

  bool takes_binaries() const { return !binary_formats.empty(); }
};

// Needs the context to be current on the calling thread. kUnavailable if it is older than ES 3.1 or has no compute.
Result<DriverFacts> QueryDriverFacts(const DisplaySource& source);

}  // namespace hearth::gles

#endif  // HEARTH_BACKENDS_GLES_DRIVER_FACTS_H_
