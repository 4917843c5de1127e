// A hot start: whether, and what its session does between two runs.
#ifndef HEARTH_FRONTENDS_API_HOT_START_H_
#define HEARTH_FRONTENDS_API_HOT_START_H_

#include <memory>

#include "frontends/api/session_data.h"

namespace hearth {

// kInvalidArgument for a word that is no way to start, kUnsupported for a hot start in the program's own context.
Status CheckStart(const SessionOptions& options);

// After the session's shapes have changed: the device behind it, if it may still take over, is made ready for them.
void RestartBehind(SessionData& data);

// The CPU has been made ready: the device of a hot start is, behind it.
void BeginBehind(SessionData& data, std::unique_ptr<SessionData> next);

// "hot" was said, and another device than the CPU.
bool IsAskedHot(const SessionOptions& options);

// Once model, cache and first device are there: sets the report's mode and reason. For a hot start `data` is to answer
// on the CPU, and the result is what the device is to be made ready in; otherwise null.
Result<std::unique_ptr<SessionData>> ChooseStart(SessionData& data);

// Before a run: counts it, and moves to the device behind where that is ready and faster. Nothing of that fails the
// run.
void BeginRun(SessionData& data);
// After it, whatever became of it.
void EndRun(SessionData& data, double milliseconds);

// Brings the report's words about the start up to date.
void NoteBehind(SessionData& data);

// What the CPU of a hot start does not take, the device may.
Status WithHotHint(const SessionData& data, const Status& status);

// Session::WaitForDevice.
Status WaitForBehind(SessionData& data);

// Stores what the device behind made, if that is ready.
void SaveBehind(SessionData& data);

}  // namespace hearth

#endif  // HEARTH_FRONTENDS_API_HOT_START_H_
