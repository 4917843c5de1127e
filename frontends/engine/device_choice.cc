#include "frontends/engine/device_choice.h"

#include <algorithm>
#include <charconv>

#include "backends/cpu/cpu_executor.h"
#include "core/base/error.h"
#include "frontends/engine/backends.h"

namespace hearth {
namespace {

void AppendDevicesOf(const BackendDef& backend, std::vector<ListedDevice>& list) {
  int usable_count = 0;
  for (DeviceCandidate& candidate : backend.enumerate()) {
    const std::string name(BackendName(backend.kind));
    const std::string id = candidate.usable ? fmt::format("{}:{}", name, usable_count++) : name;
    list.push_back({id, &backend, std::move(candidate)});
  }
}

ListedDevice CpuDevice() {
  const DeviceInfo info = CpuDeviceInfo();
  return {"cpu", nullptr, {BackendKind::kCpu, info.name, info.driver_version, DeviceType::kCpu, true, "", 0}};
}

std::string Lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

// "opencl" or "opencl:1" of a backend in this build.
bool ParseBackendName(const std::string& wanted, const BackendDef*& backend, size_t& index) {
  const size_t colon = std::min(wanted.find(':'), wanted.size());
  backend = FindGpuBackend(wanted.substr(0, colon));
  index = 0;
  if (backend == nullptr || colon == wanted.size()) return backend != nullptr;
  const char* first = wanted.data() + colon + 1;
  const char* last = wanted.data() + wanted.size();
  const auto parsed = std::from_chars(first, last, index);
  return first != last && parsed.ec == std::errc() && parsed.ptr == last;
}

std::string ReasonsOf(const std::vector<ListedDevice>& devices) {
  std::string reasons;
  for (const ListedDevice& listed : devices) {
    if (!listed.candidate.usable)
      reasons += fmt::format("{}{}", reasons.empty() ? "" : "; ", listed.candidate.unusable_reason);
  }
  return reasons;
}

Result<std::vector<ListedDevice>> OfBackend(const std::string& wanted, const BackendDef& backend, size_t index) {
  std::vector<ListedDevice> all;
  AppendDevicesOf(backend, all);
  std::vector<ListedDevice> usable;
  std::copy_if(all.begin(), all.end(), std::back_inserter(usable),
               [](const ListedDevice& d) { return d.candidate.usable; });
  if (index < usable.size()) return std::vector<ListedDevice>{usable[index]};
  if (!usable.empty()) {
    return Error(StatusCode::kUnavailable,
                 "device '{}' does not exist: {} has {} usable device(s); `hearth devices` lists them", wanted,
                 BackendName(backend.kind), usable.size());
  }
  return Error(StatusCode::kUnavailable, "device '{}' is not usable: {}", wanted, ReasonsOf(all));
}

Result<std::vector<ListedDevice>> ByPartOfName(const std::string& wanted) {
  for (const ListedDevice& listed : ListAllDevices()) {
    if (listed.candidate.usable && Lower(listed.candidate.name).find(Lower(wanted)) != std::string::npos) {
      return std::vector<ListedDevice>{listed};
    }
  }
  return Error(StatusCode::kUnavailable,
               "no usable device is called '{}' (a backend of this build, or part of a device's name); `hearth "
               "devices` lists them",
               wanted);
}

std::vector<ListedDevice> HardwareThenCpu() {
  std::vector<ListedDevice> chosen;
  for (ListedDevice& listed : ListAllDevices()) {
    if (listed.backend != nullptr && listed.candidate.usable && listed.candidate.type != DeviceType::kCpu)
      chosen.push_back(std::move(listed));
  }
  std::stable_sort(chosen.begin(), chosen.end(), [](const ListedDevice& a, const ListedDevice& b) {
    return (a.candidate.type == DeviceType::kDiscreteGpu) > (b.candidate.type == DeviceType::kDiscreteGpu);
  });
  chosen.push_back(CpuDevice());
  return chosen;
}

}  // namespace

std::vector<ListedDevice> ListAllDevices() {
  std::vector<ListedDevice> list;
  for (const BackendDef& backend : GpuBackends()) AppendDevicesOf(backend, list);
  list.push_back(CpuDevice());
  return list;
}

Result<std::vector<ListedDevice>> ChooseDevices(const std::string& wanted) {
  if (wanted == "auto") return HardwareThenCpu();
  if (wanted == "cpu") return std::vector<ListedDevice>{CpuDevice()};
  const BackendDef* backend = nullptr;
  size_t index = 0;
  if (ParseBackendName(wanted, backend, index)) return OfBackend(wanted, *backend, index);
  return ByPartOfName(wanted);
}

Result<OpenedDevice> OpenChosenDevice(const std::string& wanted, const std::vector<std::string>& failed_ids) {
  HEARTH_ASSIGN(const std::vector<ListedDevice> choices, ChooseDevices(wanted));
  OpenedDevice opened;
  Status last_failure;
  for (const ListedDevice& choice : choices) {
    if (std::find(failed_ids.begin(), failed_ids.end(), choice.id) != failed_ids.end()) continue;
    opened.id = choice.id;
    opened.reason = wanted != "auto"            ? fmt::format("asked for as '{}'", wanted)
                    : choice.backend != nullptr ? "the first hardware GPU"
                                                : "no hardware GPU is usable";
    if (choice.backend == nullptr) {
      opened.info = CpuDeviceInfo();
      opened.info.id = opened.id;
      return opened;
    }
    Result<std::unique_ptr<Device>> device = choice.backend->open(choice.candidate);
    if (device.ok()) {
      opened.device = std::move(device).value();
      opened.info = opened.device->info();
      opened.info.id = opened.id;
      return opened;
    }
    last_failure = device.status();
    opened.warnings.push_back(
        fmt::format("{} failed to open, the next device is taken: {}", choice.id, last_failure.message()));
  }
  return Status(StatusCode::kUnavailable, last_failure.message()).Within(fmt::format("device '{}'", wanted));
}

Result<OpenedDevice> OpenSharedDevice(const SharedContext& context, const std::string& wanted) {
  constexpr BackendKind kKinds[] = {BackendKind::kNull, BackendKind::kOpenCl, BackendKind::kVulkan, BackendKind::kGles};
  const std::string name(BackendName(kKinds[context.index()]));
  if (wanted != "auto" && wanted != name) {
    return Error(StatusCode::kInvalidArgument, "device '{}' was asked for with a context of {} to share", wanted, name);
  }
  const BackendDef* backend = FindGpuBackend(name);
  if (backend == nullptr) return Error(StatusCode::kUnsupported, "this build has no backend for {}", name);
  OpenedDevice opened;
  HEARTH_ASSIGN(opened.device, backend->open_shared(context));
  opened.id = name;
  opened.reason = "shared by the program";
  opened.info = opened.device->info();
  opened.info.id = opened.id;
  return opened;
}

}  // namespace hearth
