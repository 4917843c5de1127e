// Hot starts: the CPU answers until the device in the background is ready and faster.
#ifndef HEARTH_RUNTIME_SESSION_HOT_START_H_
#define HEARTH_RUNTIME_SESSION_HOT_START_H_

#include <memory>

#include "hearth/session.h"
#include "runtime/session/session_data.h"

namespace hearth {

// kInvalidArgument for an unknown value of `start`, kUnsupported for a hot start in the program's own context.
Status CheckStart(const SessionOptions& options);

// Whether "hot" was asked for, with a device other than the CPU.
bool IsAskedHot(const SessionOptions& options);

// Whether to start hot, once model, cache and first device are open; sets the report's mode and reason.
Result<bool> ChooseHotStart(SessionData& data, const PrepareRequest& request);

// Starts preparing the device in the background, once the CPU is ready. `device`: null if it is not open.
void BeginBackground(SessionData& data, std::shared_ptr<SessionDevice> device);
// After the session's shapes have changed: prepares the device for them, if it may still take over.
void RestartBackground(SessionData& data);

// Before a run: counts it, and moves to the device in the background if that is ready and faster. A failure here does
// not fail the run.
void BeginRun(SessionData& data);
// After a run, whether it succeeded or not.
void EndRun(SessionData& data, double milliseconds);

// Stores what the device in the background made, if it is ready.
void StoreBackground(SessionData& data);

// Updates the report about the start.
void NoteBackground(SessionData& data);

// Adds a hint to an error of the CPU in a hot start that the device may support what the CPU does not.
Status WithHotHint(const SessionData& data, const Status& status);

}  // namespace hearth

#endif  // HEARTH_RUNTIME_SESSION_HOT_START_H_
