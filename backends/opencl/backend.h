// OpenCL 1.2 and later, through the ICD loader that the machine has (or has not).
#ifndef HEARTH_BACKENDS_OPENCL_BACKEND_H_
#define HEARTH_BACKENDS_OPENCL_BACKEND_H_

#include <memory>
#include <vector>

#include "hal/device.h"

namespace hearth {

// All devices of all platforms, in the loader's order, usable or not; one unusable candidate when there is
// none at all. Opens no context.
std::vector<DeviceCandidate> EnumerateOpenCl();

// kUnavailable when the device is gone, was never usable, or refuses a context.
Result<std::unique_ptr<Device>> OpenOpenCl(const DeviceCandidate& candidate);

// Works in the OpenClContext of the caller's. kInvalidArgument for one that is incomplete or can't be used.
Result<std::unique_ptr<Device>> OpenSharedOpenCl(const SharedContext& context);

}  // namespace hearth

#endif  // HEARTH_BACKENDS_OPENCL_BACKEND_H_
