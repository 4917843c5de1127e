// Hot starts: deciding whether to start hot, and the work between two runs.
#ifndef HEARTH_FRONTENDS_API_HOT_START_H_
#define HEARTH_FRONTENDS_API_HOT_START_H_

#include <memory>

#include "frontends/api/session_data.h"

namespace hearth {

// kInvalidArgument for an unknown value of `start`, kUnsupported for a hot start in the program's own context.
Status CheckStart(const SessionOptions& options);

// After the session's shapes have changed: prepares the background device for them, if it may still take over.
void RestartBehind(SessionData& data);

// Starts preparing the background device of a hot start, once the CPU is ready.
void BeginBehind(SessionData& data, std::unique_ptr<SessionData> next);

// Whether "hot" was asked for, with a device other than the CPU.
bool IsAskedHot(const SessionOptions& options);

// Sets the report's mode and reason, once model, cache and first device are open. For a hot start `data` will answer on
// the CPU, and the result is the SessionData for the device; otherwise null.
Result<std::unique_ptr<SessionData>> ChooseStart(SessionData& data);

// Before a run: counts it, and moves to the background device if that is ready and faster. A failure here does not fail
// the run.
void BeginRun(SessionData& data);
// After a run, whether it succeeded or not.
void EndRun(SessionData& data, double milliseconds);

// Updates the report about the start.
void NoteBehind(SessionData& data);

// Adds a hint to an error of the CPU in a hot start that the device may support what the CPU does not.
Status WithHotHint(const SessionData& data, const Status& status);

// Session::WaitForDevice.
Status WaitForBehind(SessionData& data);

// Stores the background device's programs if it is ready.
void SaveBehind(SessionData& data);

}  // namespace hearth

#endif  // HEARTH_FRONTENDS_API_HOT_START_H_
