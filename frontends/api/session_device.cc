#include "frontends/api/session_device.h"

#include <chrono>

#include "core/base/error.h"
#include "frontends/engine/device_simulation.h"
#include "frontends/engine/self_test.h"

namespace hearth {
namespace {

// No limit for software and simulated devices: they are as slow as the CPU.
std::chrono::milliseconds WaitLimitOf(const SessionData& data) {
  constexpr std::chrono::milliseconds kOfHardware{60000};
  if (data.options.wait_limit_ms >= 0) return std::chrono::milliseconds(data.options.wait_limit_ms);
  const bool is_software = data.opened.info.is_software() || !data.options.simulate.empty();
  return is_software ? std::chrono::milliseconds::zero() : kOfHardware;
}

}  // namespace

Status TrustDevice(SessionData& data) {
  OpenedDevice& opened = data.opened;
  if (opened.device == nullptr || opened.is_trusted) return Status::Ok();
  opened.device->set_wait_limit(WaitLimitOf(data));
  const bool is_tested = data.tests_devices && NeedsSelfTest(opened.info);
  if (is_tested) HEARTH_TRY(PassSelfTest(*opened.device, opened.info, data.store.get(), data.stop));
  opened.is_trusted = true;
  return Status::Ok();
}

Result<OpenedDevice> OpenAskedDevice(const SessionData& data) {
  const SessionOptions& options = data.options;
  if (options.shared.index() != 0) return OpenSharedDevice(options.shared, options.device, data.backends);
  const bool is_simulated = !options.simulate.empty();
  Result<OpenedDevice> opened = is_simulated ? OpenSimulatedDevice(options.device, options.simulate)
                                             : OpenChosenDevice(options.device, data.failed_ids, data.backends);
  const bool may_take_another = options.next_device && opened.status().code() == StatusCode::kUnavailable;
  if (opened.ok() || !may_take_another || (IsAutoDevice(options.device) && !is_simulated)) return opened;
  const Status why = opened.status();
  HEARTH_ASSIGN(opened, OpenChosenDevice("auto", data.failed_ids, data.backends));
  opened->reason = fmt::format("'{}' is not usable", is_simulated ? options.simulate : options.device);
  opened->warnings.insert(opened->warnings.begin(), fmt::format("the next device is taken: {}", why.message()));
  return opened;
}

}  // namespace hearth
