// OpenCL 1.2 and later, through the machine's ICD loader, which may be missing.
#ifndef HEARTH_BACKENDS_OPENCL_BACKEND_H_
#define HEARTH_BACKENDS_OPENCL_BACKEND_H_

#include <memory>
#include <vector>

#include "hal/device/device.h"

namespace hearth {

// All devices of all platforms in the loader's order, usable or not. If there are none, one unusable candidate. Makes
// no context.
std::vector<DeviceCandidate> EnumerateOpenCl();

// kUnavailable if the device is gone, was never usable, or refuses a context.
Result<std::unique_ptr<Device>> OpenOpenCl(const DeviceCandidate& candidate);

// Works in the caller's OpenClContext. kInvalidArgument if it is incomplete or can't be used.
Result<std::unique_ptr<Device>> OpenSharedOpenCl(const SharedContext& context);

}  // namespace hearth

#endif  // HEARTH_BACKENDS_OPENCL_BACKEND_H_
