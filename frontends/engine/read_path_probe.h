// Measures whether a device reads memory faster through plain or texel buffers, and stores the result.
#ifndef HEARTH_FRONTENDS_ENGINE_READ_PATH_PROBE_H_
#define HEARTH_FRONTENDS_ENGINE_READ_PATH_PROBE_H_

#include <optional>

#include "core/base/blob_store.h"
#include "hal/device.h"

namespace hearth {

// Covers the device, its driver and the probe's sources.
CacheKey ReadPathProbeKey(const DeviceInfo& info);

// Reads part of a buffer through texels. An error means that the driver offers texel buffers and refuses to read
// (rusticl of Mesa 22.3 answers CL_OUT_OF_HOST_MEMORY at the enqueue).
Status TryTexelReads(Device& device);

// The stored result for this device and driver: a path if it was measured at least twice as fast as the default.
// Nothing if the default stays or no probe has run yet.
std::optional<AccessPath> ProbedReadPath(const DeviceInfo& info, BlobStore& store);

// Runs the probe unless the store has its result. It compiles twice, so call it after the first result. It takes effect
// at the next start. After an error no result is stored.
void ProbeReadPathOnce(Device& device, BlobStore& store);

}  // namespace hearth

#endif  // HEARTH_FRONTENDS_ENGINE_READ_PATH_PROBE_H_
