// Under `auto`: from a device that fails to the next one, at the start of a session and in a run.
#ifndef HEARTH_FRONTENDS_API_NEXT_DEVICE_H_
#define HEARTH_FRONTENDS_API_NEXT_DEVICE_H_

#include <functional>
#include <string_view>

#include "frontends/api/session_data.h"

namespace hearth {

// Whether another device may do better: it refuses programs, is lost, or has too little memory.
bool IsTheDevicesFault(const Status& status);

// The device was chosen by `auto`, and it is not the last choice, the CPU.
bool HasNextDevice(const SessionData& data);

// Closes the device and opens the next one; nothing is prepared on it yet. `how` follows the device's name in the
// warning: "could not be made ready".
Status TakeNextDevice(SessionData& data, std::string_view how, const Status& why);

// Whether runs in flight, states and bindings allow to go on elsewhere: not with memory that a program lent, not where
// a run in flight waits for fences or signals, and for a model with state only while all runs since the last copy of
// its states (KeepStates) are in flight.
bool CanMove(const SessionData& data);

// Calls `run`. While that is the device's fault and the session can move: goes to the next device, brings the states to
// what they were before the oldest run in flight, repeats the runs in flight, and calls it again.
Status RunOnAUsableDevice(SessionData& data, const std::function<Status()>& run);

// After a run, for a device that may be lost in the next one: a copy of the states on the host. Where nothing can be
// lost, nothing happens.
Status KeepStates(SessionData& data);

}  // namespace hearth

#endif  // HEARTH_FRONTENDS_API_NEXT_DEVICE_H_
