#include "backends/opencl/backend.h"

#include <filesystem>
#include <system_error>

#include "backends/opencl/device.h"
#include "backends/opencl/device_queries.h"
#include "backends/opencl/driver_api.h"
#include "backends/opencl/pocl.h"
#include "core/base/error.h"
#include "core/device/driver_names.h"

namespace hearth {
namespace {

DeviceCandidate NoDevice(const Status& why) {
  return {.backend = "opencl", .name = "OpenCL", .unusable_reason = why.message()};
}

DeviceCandidate Describe(const OpenClApi& api, const OpenClDeviceId& id, int index) {
  const Result<DeviceInfo> info = ReadOpenClDeviceInfo(api, id);
  if (!info.ok()) return NoDevice(info.status());
  std::string reason = OpenClUnusableReason(api, id);
  if (reason.empty() && IsPocl(DriverWords(*info))) reason = CheckPoclSurvives().message();
  return CandidateOf(*info, reason, index);
}

// Workaround for PoCL 3.1: if /sys is not mounted (a bare chroot), it finds no memory and aborts the process in
// clGetDeviceIDs, so no driver may be asked. GPU drivers find nothing without /sys either.
Status CheckSysfs() {
  std::error_code ignored;
  if (std::filesystem::exists("/sys/devices/system/cpu", ignored)) return Status::Ok();
  return Error(StatusCode::kUnavailable,
               "/sys is not mounted here, and PoCL aborts the process without it; mount it: mount -t sysfs sysfs /sys");
}

}  // namespace

std::vector<DeviceCandidate> EnumerateOpenCl() {
  if (const Status status = CheckSysfs(); !status.ok()) return {NoDevice(status)};
  ChoosePoclFolder();
  const Result<const OpenClApi*> api = LoadOpenCl();
  if (!api.ok()) return {NoDevice(api.status())};
  const Result<std::vector<OpenClDeviceId>> ids = FindOpenClDevices(**api);
  if (!ids.ok()) return {NoDevice(ids.status())};
  std::vector<DeviceCandidate> candidates;
  for (const OpenClDeviceId& id : *ids) {
    candidates.push_back(Describe(**api, id, static_cast<int>(candidates.size())));
  }
  return candidates;
}

Result<std::unique_ptr<Device>> OpenOpenCl(const DeviceCandidate& candidate) {
  HEARTH_ASSIGN(const OpenClApi* api, LoadOpenCl());
  HEARTH_ASSIGN(const std::vector<OpenClDeviceId> ids, FindOpenClDevices(*api));
  if (candidate.driver_index < 0 || static_cast<size_t>(candidate.driver_index) >= ids.size()) {
    return Error(StatusCode::kUnavailable, "OpenCL device {} ({}) is gone; the loader has {}", candidate.driver_index,
                 candidate.name, ids.size());
  }
  const OpenClDeviceId& id = ids[candidate.driver_index];
  if (const std::string reason = OpenClUnusableReason(*api, id); !reason.empty()) {
    return Error(StatusCode::kUnavailable, "OpenCL device {}: {}", candidate.name, reason);
  }
  HEARTH_ASSIGN(DeviceInfo info, ReadOpenClDeviceInfo(*api, id));
  if (candidate.profile != nullptr) info = Simulated(std::move(info), *candidate.profile);
  return MakeOpenClDevice(*api, id, std::move(info));
}

Result<std::unique_ptr<Device>> OpenSharedOpenCl(const SharedContext& context) {
  const auto* shared = std::get_if<OpenClContext>(&context);
  if (shared == nullptr) return Error(StatusCode::kInvalidArgument, "the shared context is not an OpenCL context");
  HEARTH_ASSIGN(const OpenClApi* api, LoadOpenCl());
  OpenClContext with_device = *shared;
  cl_int code = CL_SUCCESS;
  if (shared->device == nullptr && shared->queue != nullptr) {
    code = api->clGetCommandQueueInfo(static_cast<cl_command_queue>(shared->queue), CL_QUEUE_DEVICE, sizeof(void*),
                                      &with_device.device, nullptr);
    if (code != CL_SUCCESS) return OpenClError(code, StatusCode::kInvalidArgument, "the shared queue");
  }
  OpenClDeviceId id{nullptr, static_cast<cl_device_id>(with_device.device)};
  code = api->clGetDeviceInfo(id.device, CL_DEVICE_PLATFORM, sizeof id.platform, &id.platform, nullptr);
  if (code != CL_SUCCESS) return OpenClError(code, StatusCode::kInvalidArgument, "the shared OpenCL device");
  if (const std::string reason = OpenClUnusableReason(*api, id); !reason.empty()) {
    return Error(StatusCode::kInvalidArgument, "the shared OpenCL device: {}", reason);
  }
  HEARTH_ASSIGN(DeviceInfo info, ReadOpenClDeviceInfo(*api, id));
  return ShareOpenClDevice(*api, with_device, std::move(info));
}

}  // namespace hearth
