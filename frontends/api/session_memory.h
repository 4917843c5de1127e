// A session's memory, for SessionOptions::memory_limit_bytes.
#ifndef HEARTH_FRONTENDS_API_SESSION_MEMORY_H_
#define HEARTH_FRONTENDS_API_SESSION_MEMORY_H_

#include "frontends/api/session_data.h"

namespace hearth {

struct MemoryNeed {
  uint64_t weights_bytes = 0, arena_bytes = 0, state_bytes = 0;  // on device and host
  uint64_t staging_bytes = 0;    // for copies, if the host does not pack and read in device memory
  uint64_t interface_bytes = 0;  // the session's copies of inputs and outputs
  uint64_t total() const { return weights_bytes + arena_bytes + state_bytes + staging_bytes + interface_bytes; }
};

// The plan's memory; `host` is known once the runner is made.
MemoryNeed NeedOf(const Plan& plan, const DeviceInfo& device, const MemoryFigures& host);

// The size of the plan's constants on the device.
uint64_t ConstantBytes(const Plan& plan);

// An error says how many bytes are needed: kResourceExhausted if the next device may need less, else kInvalidArgument.
Status CheckMemoryLimit(const SessionData& data, const MemoryNeed& need);

// kResourceExhausted if the host has less memory left, since the process would be killed. A device with its own memory
// reports its own errors.
Status CheckHostMemory(const SessionData& data, const MemoryNeed& need);

// Counts memory of another run in flight in the report's needed_bytes. kResourceExhausted over the limit.
Status CountRunInFlight(SessionData& data);

// The same for frames that the device reads: one copy of each for runs that are waited for, and one per run in flight.
// Over the limit nothing is counted.
Status CountFrames(SessionData& data);

}  // namespace hearth

#endif  // HEARTH_FRONTENDS_API_SESSION_MEMORY_H_
