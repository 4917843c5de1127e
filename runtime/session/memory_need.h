// The memory that a plan needs, for SessionOptions::memory_limit_bytes.
#ifndef HEARTH_RUNTIME_SESSION_MEMORY_NEED_H_
#define HEARTH_RUNTIME_SESSION_MEMORY_NEED_H_

#include <cstdint>

#include "core/device/device_info.h"
#include "core/plan/plan.h"
#include "hearth/status.h"

namespace hearth {

struct MemoryNeed {
  uint64_t weights_bytes = 0, arena_bytes = 0, state_bytes = 0;  // on device and host
  uint64_t staging_bytes = 0;    // for copies, if the host does not pack and read in device memory
  uint64_t interface_bytes = 0;  // the session's copies of inputs and outputs
  uint64_t total() const { return weights_bytes + arena_bytes + state_bytes + staging_bytes + interface_bytes; }
};

// The plan's memory; `host` is known once it is loaded.
MemoryNeed NeedOf(const Plan& plan, const DeviceInfo& device, const MemoryFigures& host);

// The size of the plan's constants on the device, and of its inputs and outputs on the host.
uint64_t ConstantBytes(const Plan& plan);
uint64_t InterfaceBytes(const Plan& plan);

// kResourceExhausted if the host has less memory left, since the process would be killed. A device with its own memory
// reports its own errors.
Status CheckHostMemory(const DeviceInfo& device, const MemoryNeed& need);

// kInvalidArgument for a limit that the need exceeds; says how many bytes are needed. 0: no limit.
Status CheckMemoryLimit(const DeviceInfo& device, const MemoryNeed& need, uint64_t limit_bytes);

// What is left of a limit, at least 1; 0: no limit.
uint64_t LeftOfLimit(uint64_t limit_bytes, uint64_t taken_bytes);

}  // namespace hearth

#endif  // HEARTH_RUNTIME_SESSION_MEMORY_NEED_H_
