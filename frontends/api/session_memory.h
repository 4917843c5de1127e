// What a session takes of memory, for SessionOptions::memory_limit_bytes.
#ifndef HEARTH_FRONTENDS_API_SESSION_MEMORY_H_
#define HEARTH_FRONTENDS_API_SESSION_MEMORY_H_

#include "frontends/api/session_data.h"

namespace hearth {

struct MemoryNeed {
  uint64_t weights_bytes = 0, arena_bytes = 0, state_bytes = 0;  // on device and host
  uint64_t staging_bytes = 0;    // between the two, where the device's memory is not the host's
  uint64_t interface_bytes = 0;  // the session's copies of inputs and outputs
  uint64_t total() const { return weights_bytes + arena_bytes + state_bytes + staging_bytes + interface_bytes; }
};

// Of the plan; `host` is known once the runner is made.
MemoryNeed NeedOf(const Plan& plan, const DeviceInfo& device, const MemoryFigures& host);

// Of the plan's constants on the device.
uint64_t ConstantBytes(const Plan& plan);

// kResourceExhausted where the next device may need less, else kInvalidArgument, with the bytes that are needed.
Status CheckMemoryLimit(const SessionData& data, const MemoryNeed& need);

// kResourceExhausted where the host has not that much memory left: the process would be killed. A device whose memory
// is its own gives its own errors.
Status CheckHostMemory(const SessionData& data, const MemoryNeed& need);

// Memory of one more run in flight, counted in the report's needed_bytes. kResourceExhausted over the limit.
Status CountRunInFlight(SessionData& data);

// The same of the frames that the device reads, each in one copy for runs that are waited for and one for each run in
// flight. Over the limit nothing is counted.
Status CountFrames(SessionData& data);

}  // namespace hearth

#endif  // HEARTH_FRONTENDS_API_SESSION_MEMORY_H_
