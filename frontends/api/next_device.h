// Moves a session from one device to another with TakeOver: under `auto` from one that fails, at the start or in a run,
// to the next; in a hot start from the CPU to the background device.
#ifndef HEARTH_FRONTENDS_API_NEXT_DEVICE_H_
#define HEARTH_FRONTENDS_API_NEXT_DEVICE_H_

#include <functional>
#include <string_view>

#include "frontends/api/session_data.h"

namespace hearth {

// A second SessionData of the same session, to be prepared for another device and then taken over.
std::unique_ptr<SessionData> DataBeside(const SessionData& data);

// The session continues with the prepared device in `next`, which holds the old device afterwards. States are copied
// first; the caller must finish runs in flight that were not repeated. The user's settings and the times of the start
// stay. On an error the session is unchanged.
Status TakeOver(SessionData& data, SessionData& next, std::span<const StateContent> states);

// Whether another device may do better after this error: the device refuses programs, is lost, or has too little
// memory.
bool IsTheDevicesFault(const Status& status);

// The device was chosen by `auto`, or SessionOptions::next_device is set; it is not the last choice, the CPU, and
// nobody asked to stop.
bool HasNextDevice(const SessionData& data);

// Closes the device and opens the next one; nothing is prepared on it yet. `how` follows the device's name in the
// warning: "could not be made ready".
Status TakeNextDevice(SessionData& data, std::string_view how, const Status& why);

// Calls `run`. While it fails by the device's fault and the session can move: moves to the next device, restores the
// states from before the oldest run in flight, repeats the runs in flight, and calls `run` again.
Status RunOnAUsableDevice(SessionData& data, const std::function<Status()>& run);

// After a run, if the device may be lost in the next one: copies the states to the host.
Status KeepStates(SessionData& data);

}  // namespace hearth

#endif  // HEARTH_FRONTENDS_API_NEXT_DEVICE_H_
