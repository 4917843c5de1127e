// Tests whether a device computes correctly: some drivers claim to be a GPU and execute nothing, or compute wrongly.
#ifndef HEARTH_RUNTIME_DEVICES_SELF_TEST_H_
#define HEARTH_RUNTIME_DEVICES_SELF_TEST_H_

#include <stop_token>

#include "core/store/result_cache.h"
#include "hal/device/device.h"

namespace hearth {

// True for devices that say they are hardware. Software drivers are used only when named, and each millisecond of their
// start counts.
bool NeedsSelfTest(const DeviceInfo& info);

// Runs a small network, once with each way to read memory, and compares it with the reference. kUnavailable names the
// fault. A device may refuse texel reads, but must not read wrongly.
Status RunSelfTest(Device& device, const std::stop_token& stop = {});

// Passes at once if the device passed here before. Only a pass is kept: a failure may disappear after the machine
// restarts. `cache` may be null.
Status PassSelfTest(Device& device, const DeviceInfo& info, ResultCache* cache, const std::stop_token& stop = {});

}  // namespace hearth

#endif  // HEARTH_RUNTIME_DEVICES_SELF_TEST_H_
