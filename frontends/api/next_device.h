// From one device to another: under `auto` from one that fails to the next, at the start of a session and in a run; and
// in a hot start from the CPU to the device behind it. There is one way to move, TakeOver.
#ifndef HEARTH_FRONTENDS_API_NEXT_DEVICE_H_
#define HEARTH_FRONTENDS_API_NEXT_DEVICE_H_

#include <functional>
#include <string_view>

#include "frontends/api/session_data.h"

namespace hearth {

// A second set of what belongs to a device, of the same session: to be made ready and then taken over.
std::unique_ptr<SessionData> DataBeside(const SessionData& data);

// The session goes on with what was made ready in `next`, which holds its old device afterwards: states are brought
// there first, and runs in flight that were not repeated are finished before by the caller. What the caller of the
// session set, and the times of the start, stay. On an error the session is as it was.
Status TakeOver(SessionData& data, SessionData& next, std::span<const StateContent> states);

// Whether another device may do better: it refuses programs, is lost, or has too little memory.
bool IsTheDevicesFault(const Status& status);

// The device was chosen by `auto`, or SessionOptions::next_device is set; it is not the last choice, the CPU, and
// nobody asked to stop.
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
