// Runs nodes on the host, for the cpu device and as the fallback of every other device.
#ifndef HEARTH_BACKENDS_CPU_CPU_EXECUTOR_H_
#define HEARTH_BACKENDS_CPU_CPU_EXECUTOR_H_

#include <memory>

#include "core/device/device_info.h"
#include "core/plan/host_executor.h"

namespace hearth {

// The CPU as a device. Fills every field without opening anything.
DeviceInfo CpuDeviceInfo();

// Runs each node with the first maker that takes it (NodeMakers), in the end core's float64 reference. Owns the worker
// threads, so it must outlive the programs that it prepares. `background`: the threads that its loops leave CPUs to;
// null: a count of its own.
std::unique_ptr<HostExecutor> MakeCpuExecutor(std::shared_ptr<BackgroundThreads> background = nullptr);

}  // namespace hearth

#endif  // HEARTH_BACKENDS_CPU_CPU_EXECUTOR_H_
