// Goes on with another prepared model: under `auto` on the next device if one fails, at the start or in a run; after a
// bad cache entry with what was made without it; in a hot start on the device in the background.
#ifndef HEARTH_RUNTIME_SESSION_MOVE_H_
#define HEARTH_RUNTIME_SESSION_MOVE_H_

#include <functional>
#include <memory>
#include <span>

#include "core/base/run_control.h"
#include "runtime/devices/backends.h"
#include "runtime/session/run_context.h"

namespace hearth {

// Whether another device may do better after this error: the device refuses programs, is lost, or has too little
// memory.
bool IsTheDevicesFault(const Status& status);

// The request's device was chosen by `auto`, or SessionOptions::next_device is set; it is not the last choice, the CPU,
// and nobody asked to stop.
bool HasNextDevice(const PrepareRequest& request);

// Opens the device that the options name, or another one with SessionOptions::next_device.
Result<std::shared_ptr<SessionDevice>> OpenAskedDevice(const SessionOptions& options,
                                                       std::span<const BackendDef> backends);

// Prepares a model and its runs. If the request's device fails and there is a next one, on that.
Result<std::unique_ptr<RunContext>> PrepareOnAUsableDevice(PrepareRequest request,
                                                           std::span<const BackendDef> backends);
// On the request's device.
Result<std::unique_ptr<RunContext>> PrepareContext(const PrepareRequest& request, bool* exceeds_limit = nullptr);
// On the next device, after that of `context` has failed in a run; that is closed, since it may lack memory.
Result<std::unique_ptr<RunContext>> PrepareOnTheNextDevice(RunContext& context, const Status& why,
                                                           uint64_t memory_limit_bytes,
                                                           std::span<const BackendDef> backends);

// `context` becomes `next`, of the same model and shapes, with the caller's state and the states of the model. On an
// error nothing has changed. What `context` was is closed.
Status MoveTo(std::unique_ptr<RunContext>& context, std::unique_ptr<RunContext> next,
              std::span<const StateContent> states);

// A call that a device or a cache entry may make fail.
struct Attempt {
  std::function<Status()> run;
  const RunControl* control = nullptr;  // if this ended it, nothing else would do better; may be null
  bool reads_frames = false;            // the host may read the frames of the run

  bool was_ended() const { return control != nullptr && control->was_ended(); }
};

// While the call fails, before the first run has finished, and may have failed because of cache entries: rejects those,
// moves to what is made without them, and calls again. True if it moved.
bool RunWithoutBadEntries(std::unique_ptr<RunContext>& context, const Attempt& attempt, Status& status);

}  // namespace hearth

#endif  // HEARTH_RUNTIME_SESSION_MOVE_H_
