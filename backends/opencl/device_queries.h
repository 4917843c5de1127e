// OpenCL's answers about its platforms and devices, as core's DeviceInfo.
#ifndef HEARTH_BACKENDS_OPENCL_DEVICE_QUERIES_H_
#define HEARTH_BACKENDS_OPENCL_DEVICE_QUERIES_H_

#include <string>
#include <vector>

#include "backends/opencl/driver_api.h"
#include "core/device/device_info.h"

namespace hearth {

struct OpenClDeviceId {
  cl_platform_id platform;
  cl_device_id device;
};

// All devices of all platforms in the loader's order. kUnavailable with the reason if there is none. The loader
// initialises its drivers once per process, so later calls are cheap.
Result<std::vector<OpenClDeviceId>> FindOpenClDevices(const OpenClApi& api);

// kUnavailable if the driver fails to answer; an unknown query is no failure.
Result<DeviceInfo> ReadOpenClDeviceInfo(const OpenClApi& api, const OpenClDeviceId& id);

// Whether the device lists the extension.
bool HasOpenClExtension(const OpenClApi& api, cl_device_id device, const std::string& name);

// The reason why Hearth can't use the device; empty if it can.
std::string OpenClUnusableReason(const OpenClApi& api, const OpenClDeviceId& id);

}  // namespace hearth

#endif  // HEARTH_BACKENDS_OPENCL_DEVICE_QUERIES_H_
