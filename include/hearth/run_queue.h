// Runs a session in the background: the queue's thread takes runs in the order of Submit.
//
//   hearth::RunQueue queue(std::move(*session));
//   hearth::PendingRun run = queue.Submit({image}, {.deadline = std::chrono::steady_clock::now() + 50ms});
//   ...
//   if (auto outputs = run.Take(); outputs.ok()) { ... (*outputs)[0] ... }
#ifndef HEARTH_RUN_QUEUE_H_
#define HEARTH_RUN_QUEUE_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "hearth/export.h"
#include "hearth/session.h"
#include "hearth/status.h"

namespace hearth {

// Dense tensors in the order of the session's inputs or outputs.
using RunTensors = std::vector<std::vector<std::byte>>;

enum class RunState : uint8_t {
  kWaiting,    // not begun
  kRunning,    // submitted to the device
  kDone,       // its outputs are available
  kFailed,     // Take says why
  kCancelled,  // before it began, or in a loop on the CPU
  kLate,       // its deadline passed first
};

struct QueuedRunOptions {
  // A run that has not begun by then is dropped. A run that has begun is finished, but its outputs are discarded; a
  // loop whose end depends on data stops after its next turn. Take returns at the deadline.
  std::optional<std::chrono::steady_clock::time_point> deadline;
  // Called once, on the queue's thread and in the order of the runs, with the result that Take would give. For a run
  // that is on the device at its deadline it is called when the device is done. It may submit more runs but not wait
  // for them. It may destroy the queue, whose thread then ends by itself, with the session. Exceptions are logged.
  std::function<void(Result<RunTensors>)> on_done;
};

struct QueuedRun;  // internal

// A run that was submitted to a queue. Copies refer to the same run. Any thread.
class HEARTH_EXPORT PendingRun {
 public:
  RunState state() const;
  // True if the run had not begun: it never will. False: it is over, or it ends as at a deadline and becomes
  // kCancelled.
  bool Cancel();
  // Waits at most this long for the end of the run. Returns whether it is over.
  bool WaitFor(std::chrono::milliseconds milliseconds) const;
  // Waits until the run is over, and gives its outputs to the first caller. Errors: those of Session::Run; kUnavailable
  // for a cancelled run, kResourceExhausted for a late one; kInvalidArgument if the outputs were already taken, also by
  // on_done.
  Result<RunTensors> Take();

 private:
  friend class RunQueue;
  explicit PendingRun(std::shared_ptr<QueuedRun> run) : run_(std::move(run)) {}
  std::shared_ptr<QueuedRun> run_;
};

struct RunQueueData;  // internal

// Any thread. Up to the session's max_in_flight runs are on the device at once; any number may wait.
class HEARTH_EXPORT RunQueue {
 public:
  explicit RunQueue(Session session);
  // Cancels runs that have not begun and waits for the others. A loop whose end depends on data stops after its next
  // turn.
  ~RunQueue();

  // Take reports a wrong number or size of inputs.
  PendingRun Submit(RunTensors inputs, QueuedRunOptions options = {});

 private:
  std::unique_ptr<RunQueueData> data_;
};

}  // namespace hearth

#endif  // HEARTH_RUN_QUEUE_H_
