// The memory that a session takes, for SessionOptions::memory_limit_bytes.
#ifndef HEARTH_FRONTENDS_API_SESSION_MEMORY_H_
#define HEARTH_FRONTENDS_API_SESSION_MEMORY_H_

#include <cstdint>

#include "hearth/status.h"

namespace hearth {

struct SessionData;

// Report::memory.needed_bytes: of all shapes that are ready, and of their runs.
uint64_t NeededBytes(const SessionData& data);

// kResourceExhausted if the memory of another run in flight would exceed the limit.
Status CheckRunInFlightFits(const SessionData& data);
// The same for the frames that the device has been given.
Status CheckFramesFit(const SessionData& data);

}  // namespace hearth

#endif  // HEARTH_FRONTENDS_API_SESSION_MEMORY_H_
