// Runs of a session in the background: a thread of the queue's own takes them in the order in which they were given.
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
  kRunning,    // handed to the device
  kDone,       // its outputs are there
  kFailed,     // Take says why
  kCancelled,  // before it began, or in a loop on the CPU
  kLate,       // its deadline passed first
};

struct QueuedRunOptions {
  // A run that has not begun by then never is. One that has begun is finished, but for a loop that only data end, whose
  // next turn is its last; nobody gets its outputs, and Take returns at the deadline.
  std::optional<std::chrono::steady_clock::time_point> deadline;
  // Called once, on the queue's thread and in the order of the runs, with what Take gives otherwise; for a run that is
  // on the device at its deadline when the device is done with it. It must not call the queue's destructor.
  std::function<void(Result<RunTensors>)> on_done;
};

struct QueuedRun;  // internal

// A run that was given to a queue; copies stand for the same run. Any thread.
class HEARTH_EXPORT PendingRun {
 public:
  RunState state() const;
  // True where the run had not begun: it never will. False: it is over, or ends as at its deadline, kCancelled then.
  bool Cancel();
  // Waits until the run is over, at most so long. Whether it is over.
  bool WaitFor(std::chrono::milliseconds milliseconds) const;
  // Waits until the run is over, and gives its outputs to whoever asks first. Errors: those of Session::Run;
  // kUnavailable for a run that was cancelled, kResourceExhausted for one that is late; kInvalidArgument for outputs
  // that somebody took, on_done included.
  Result<RunTensors> Take();

 private:
  friend class RunQueue;
  explicit PendingRun(std::shared_ptr<QueuedRun> run) : run_(std::move(run)) {}
  std::shared_ptr<QueuedRun> run_;
};

struct RunQueueData;  // internal

// Any thread. As many runs as the session's max_in_flight are on the device at once; any number may wait.
class HEARTH_EXPORT RunQueue {
 public:
  explicit RunQueue(Session session);
  // Cancels what has not begun and waits for what has; of a loop that only data end the next turn is the last.
  ~RunQueue();

  // Of a wrong number or size of inputs Take tells.
  PendingRun Submit(RunTensors inputs, QueuedRunOptions options = {});

 private:
  std::unique_ptr<RunQueueData> data_;
};

}  // namespace hearth

#endif  // HEARTH_RUN_QUEUE_H_
