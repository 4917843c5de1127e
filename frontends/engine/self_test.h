// Whether a device computes what it is asked to: drivers exist that say they are a GPU and execute nothing, or wrongly.
#ifndef HEARTH_FRONTENDS_ENGINE_SELF_TEST_H_
#define HEARTH_FRONTENDS_ENGINE_SELF_TEST_H_

#include <stop_token>

#include "core/base/blob_store.h"
#include "hal/device.h"

namespace hearth {

// Devices that say they are hardware. Software drivers are used only where somebody names them, and each millisecond of
// their start counts.
bool NeedsSelfTest(const DeviceInfo& info);

// Of the device, its driver and the self-test's own version. An entry says that the device passed.
CacheKey SelfTestKey(const DeviceInfo& info);

// Runs a small network, once with each way to read memory, and compares it with the reference. kUnavailable says what
// went wrong; texel reads may be refused, but not be wrong.
Status RunSelfTest(Device& device, const std::stop_token& stop = {});

// Only a pass is ever stored: a failure may go with the next start of the machine.
bool HasPassedSelfTest(const DeviceInfo& info, BlobStore& store);
void StoreSelfTestPassed(const DeviceInfo& info, double cost_ms, BlobStore& store);

}  // namespace hearth

#endif  // HEARTH_FRONTENDS_ENGINE_SELF_TEST_H_
