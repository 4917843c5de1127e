// Measures how a device reads memory faster, plain buffer or texel buffer, and remembers it.
#ifndef HEARTH_FRONTENDS_ENGINE_READ_PATH_PROBE_H_
#define HEARTH_FRONTENDS_ENGINE_READ_PATH_PROBE_H_

#include <optional>

#include "core/base/blob_store.h"
#include "hal/device.h"

namespace hearth {

// Covers the device, its driver and the probe's own version.
CacheKey ReadPathProbeKey(const DeviceInfo& info);

// Reads part of a buffer through texels. An error: the driver promises them and refuses (rusticl of Mesa 22.3 answers
// CL_OUT_OF_HOST_MEMORY at the enqueue).
Status TryTexelReads(Device& device);

// The probe's lasting answer for this device and driver: a path only where it was measured at least twice as
// fast as the default; nothing when the default stands or no probe ran yet.
std::optional<AccessPath> ProbedReadPath(const DeviceInfo& info, BlobStore& store);

// Runs the probe unless the store already holds its answer. Costs two compilations: call after the first
// result. The answer takes effect from the next start. Trouble leaves no answer.
void ProbeReadPathOnce(Device& device, BlobStore& store);

}  // namespace hearth

#endif  // HEARTH_FRONTENDS_ENGINE_READ_PATH_PROBE_H_
