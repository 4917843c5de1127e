// One OpenCL device with its context and its one in-order queue.
#ifndef HEARTH_BACKENDS_OPENCL_DEVICE_H_
#define HEARTH_BACKENDS_OPENCL_DEVICE_H_

#include <memory>

#include "backends/opencl/device_queries.h"
#include "backends/opencl/driver_api.h"
#include "hal/device/device.h"

namespace hearth {

// Makes the context and the queue. kUnavailable or kResourceExhausted with the driver's error.
Result<std::unique_ptr<Device>> MakeOpenClDevice(const OpenClApi& api, const OpenClDeviceId& id, DeviceInfo info);
// On the caller's context, and on its queue if it has one. kInvalidArgument if they don't belong together or the queue
// is out of order.
Result<std::unique_ptr<Device>> ShareOpenClDevice(const OpenClApi& api, const OpenClContext& shared, DeviceInfo info);

}  // namespace hearth

#endif  // HEARTH_BACKENDS_OPENCL_DEVICE_H_
