// Nodes on the host: the cpu device, and the fallback of every other.
#ifndef HEARTH_BACKENDS_CPU_CPU_EXECUTOR_H_
#define HEARTH_BACKENDS_CPU_CPU_EXECUTOR_H_

#include <memory>

#include "core/device/device_info.h"
#include "core/plan/host_executor.h"

namespace hearth {

// The CPU as a device; every field is filled without opening anything.
DeviceInfo CpuDeviceInfo();

// Runs each node with XNNPACK where it has the operator (in builds with HEARTH_WITH_XNNPACK), with core's
// float64 reference otherwise. Owns the worker threads: it must outlive the programs that it prepares.
std::unique_ptr<HostExecutor> MakeCpuExecutor();

}  // namespace hearth

#endif  // HEARTH_BACKENDS_CPU_CPU_EXECUTOR_H_
