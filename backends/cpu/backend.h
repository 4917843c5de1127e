// The CPU's row in the list of backends.
#ifndef HEARTH_BACKENDS_CPU_BACKEND_H_
#define HEARTH_BACKENDS_CPU_BACKEND_H_

#include <memory>
#include <vector>

#include "hal/device/device.h"

namespace hearth {

std::vector<DeviceCandidate> EnumerateCpu();
// A device without kernels, buffers and fences. Plans for it consist of segments that cpu_executor.h runs.
Result<std::unique_ptr<Device>> OpenCpu(const DeviceCandidate& candidate);

}  // namespace hearth

#endif  // HEARTH_BACKENDS_CPU_BACKEND_H_
