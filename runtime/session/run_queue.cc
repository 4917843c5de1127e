#include "hearth/run_queue.h"

#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

#include "core/base/error.h"
#include "core/base/log.h"
#include "core/base/run_control.h"
#include "core/base/threads.h"
#include "runtime/session/session_data.h"

namespace hearth {

struct QueuedRun {
  mutable std::mutex mutex;
  mutable std::condition_variable changed;
  // Guarded by the mutex.
  RunState state = RunState::kWaiting;
  RunTensors inputs, outputs;
  Status failure;
  bool is_taken = false;
  bool is_cancelled = false;
  QueuedRunOptions options;
  std::thread::id maker;  // the queue's thread
};

struct RunQueueData {
  explicit RunQueueData(Session opened) : session(std::move(opened)) {}
  pid_t process = ::getpid();  // the process that started the thread
  Session session;             // only the thread uses it
  std::mutex mutex;
  std::condition_variable changed;
  // Guarded by the mutex.
  std::deque<std::shared_ptr<QueuedRun>> waiting;
  std::shared_ptr<QueuedRun> begun;  // the last run that was taken: it may be in a loop whose end depends on data
  bool is_ending = false;
  Status started;  // whether the thread could be started
  std::thread thread;
  bool ends_itself = false;  // used by the thread: on_done has destroyed the queue
};

namespace {

using Clock = std::chrono::steady_clock;

struct RunInFlight {
  std::shared_ptr<QueuedRun> run;
  Ticket ticket;
};

bool IsOver(RunState state) {
  return state != RunState::kWaiting && state != RunState::kRunning;
}

// Precondition: the run's mutex is held.
void End(QueuedRun& run, RunState state, Status failure) {
  if (IsOver(run.state)) return;
  run.state = state;
  run.failure = std::move(failure);
  run.inputs.clear();
  run.changed.notify_all();
}

void EndLate(QueuedRun& run) {
  const bool has_begun = run.state == RunState::kRunning;
  End(run, RunState::kLate,
      Error(StatusCode::kResourceExhausted, "the run's deadline passed {}",
            has_begun ? "while the device worked on it" : "before it began"));
}

bool IsLate(const QueuedRun& run) {
  return run.options.deadline && Clock::now() >= *run.options.deadline;
}

// The result of Take. Precondition: the run is over and its mutex is held.
Result<RunTensors> TakeOutputs(QueuedRun& run) {
  if (run.state != RunState::kDone) return run.failure;
  if (std::exchange(run.is_taken, true))
    return Error(StatusCode::kInvalidArgument, "the outputs of this run have already been taken");
  return std::move(run.outputs);
}

// Notifies those who wait for the run and calls on_done.
void Tell(QueuedRun& run) {
  std::unique_lock lock(run.mutex);
  if (!run.options.on_done) return;
  const auto on_done = std::exchange(run.options.on_done, {});
  Result<RunTensors> outputs = TakeOutputs(run);
  lock.unlock();
  try {
    on_done(std::move(outputs));
  } catch (const std::exception& error) {
    Log(LogLevel::kError, fmt::format("a queue's on_done threw '{}', which goes no further", error.what()));
  } catch (...) {
    Log(LogLevel::kError, "a queue's on_done threw, which goes no further");
  }
}

// On the queue's thread waiting for the run would never end.
bool IsMadeHere(const QueuedRun& run) {
  return run.maker == std::this_thread::get_id();
}

// Starts the run and takes its inputs; false if it was cancelled or is late.
bool Begin(QueuedRun& run, RunTensors& inputs) {
  const std::scoped_lock lock(run.mutex);
  if (run.state != RunState::kWaiting) return false;
  if (IsLate(run)) {
    EndLate(run);
    return false;
  }
  run.state = RunState::kRunning;
  inputs = std::move(run.inputs);
  return true;
}

// The reason why a loop on the CPU must end, or OK.
Status CheckGoesOn(const QueuedRun& run) {
  const std::scoped_lock lock(run.mutex);
  if (run.is_cancelled) return Error(StatusCode::kUnavailable, "the run was cancelled");
  return IsLate(run) ? Error(StatusCode::kResourceExhausted, "the run's deadline passed") : Status::Ok();
}

// Ends a run in a loop that reached one of its limits.
void EndInLoop(QueuedRun& run, const Status& why) {
  const std::scoped_lock lock(run.mutex);
  if (run.state == RunState::kLate) run.failure = why;  // the message names the loop
  const bool is_late = !run.is_cancelled && IsLate(run);
  End(run, run.is_cancelled ? RunState::kCancelled : (is_late ? RunState::kLate : RunState::kFailed), why);
}

Result<Ticket> SubmitTo(Session& session, QueuedRun& run, const RunTensors& inputs) {
  if (inputs.size() != session.inputs().size())
    return Error(StatusCode::kInvalidArgument, "the model has {} inputs; {} were given", session.inputs().size(),
                 inputs.size());
  for (size_t k = 0; k < inputs.size(); ++k) HEARTH_TRY(session.SetInput(k, inputs[k]));
  RunControl control;
  control.EndBy([&run] { return CheckGoesOn(run); });
  Result<Ticket> ticket = Ticket();
  const Status status = Guarded([&] {
    ticket = SubmitUnder(SessionData::Of(session), {}, control);
    return ticket.status();
  });
  if (!status.ok()) ticket = status;
  if (control.was_ended() && !ticket.ok()) EndInLoop(run, ticket.status());
  return ticket;
}

void Finish(Session& session, const RunInFlight& oldest) {
  RunTensors outputs;
  const Status status = Guarded([&] {
    HEARTH_TRY(session.Wait(oldest.ticket));
    for (size_t k = 0; k < session.outputs().size(); ++k) {
      const std::span<const std::byte> output = session.output(k);
      outputs.emplace_back(output.begin(), output.end());
    }
    return Status::Ok();
  });
  {
    QueuedRun& run = *oldest.run;
    const std::scoped_lock lock(run.mutex);
    if (IsLate(run)) EndLate(run);
    if (!IsOver(run.state)) run.outputs = std::move(outputs);
    End(run, status.ok() ? RunState::kDone : RunState::kFailed, status);
  }
  Tell(*oldest.run);
}

// The next waiting run. Null if there is none now or, with `may_wait`, at the queue's end.
std::shared_ptr<QueuedRun> Next(RunQueueData& data, bool may_wait) {
  std::unique_lock lock(data.mutex);
  if (may_wait) data.changed.wait(lock, [&] { return !data.waiting.empty() || data.is_ending; });
  if (data.waiting.empty()) return nullptr;
  data.begun = std::move(data.waiting.front());
  data.waiting.pop_front();
  return data.begun;
}

// Waits for the oldest run in flight and takes its outputs.
void FinishOldest(Session& session, std::deque<RunInFlight>& in_flight) {
  Finish(session, in_flight.front());
  in_flight.pop_front();
}

// Submits a run, first finishing the oldest ones if the device's slots are full.
void BeginNext(Session& session, const std::shared_ptr<QueuedRun>& run, std::deque<RunInFlight>& in_flight) {
  RunTensors inputs;
  if (!Begin(*run, inputs)) return Tell(*run);
  const auto is_over = [&] {
    const std::scoped_lock lock(run->mutex);
    return IsOver(run->state);
  };
  Result<Ticket> ticket = SubmitTo(session, *run, inputs);
  while (ticket.status().code() == StatusCode::kResourceExhausted && !in_flight.empty() && !is_over()) {
    FinishOldest(session, in_flight);
    ticket = SubmitTo(session, *run, inputs);
  }
  if (ticket.ok()) return in_flight.push_back({run, *ticket});
  {
    const std::scoped_lock lock(run->mutex);
    End(*run, RunState::kFailed, ticket.status());
  }
  Tell(*run);
}

// Runs until the queue ends and no run is left.
void Work(RunQueueData& data) {
  std::deque<RunInFlight> in_flight;
  while (true) {
    // The CPU computes a run when it is submitted: another run beside it gains nothing.
    const bool is_there = !in_flight.empty() && SessionData::Of(data.session)->context->prepared().info.is_host();
    const std::shared_ptr<QueuedRun> run = is_there ? nullptr : Next(data, in_flight.empty());
    if (run != nullptr) {
      BeginNext(data.session, run, in_flight);
    } else if (!in_flight.empty()) {
      FinishOldest(data.session, in_flight);
    } else {
      return;
    }
  }
}

// Waits until the run is over, its deadline passes or `until` is reached. `lock` holds the run's mutex.
void WaitUntilOver(QueuedRun& run, std::unique_lock<std::mutex>& lock, std::optional<Clock::time_point> until) {
  const auto is_over = [&] { return IsOver(run.state); };
  std::optional<Clock::time_point> end = run.options.deadline;
  if (until && (!end || *until < *end)) end = until;
  if (end) {
    run.changed.wait_until(lock, *end, is_over);
  } else {
    run.changed.wait(lock, is_over);
  }
  if (!is_over() && IsLate(run)) EndLate(run);
}

}  // namespace

// Without a run: moved from.
RunState PendingRun::state() const {
  if (!run_) return RunState::kFailed;
  const std::scoped_lock lock(run_->mutex);
  if (!IsOver(run_->state) && IsLate(*run_)) EndLate(*run_);
  return run_->state;
}

bool PendingRun::Cancel() {
  if (!run_) return false;
  const std::scoped_lock lock(run_->mutex);
  run_->is_cancelled = !IsOver(run_->state);
  if (run_->state != RunState::kWaiting) return false;
  End(*run_, RunState::kCancelled, Error(StatusCode::kUnavailable, "the run was cancelled before it began"));
  return true;
}

bool PendingRun::WaitFor(std::chrono::milliseconds milliseconds) const {
  constexpr std::chrono::milliseconds kLongest = std::chrono::hours(24 * 365);  // the clock can't add max()
  if (!run_) return true;
  std::unique_lock lock(run_->mutex);
  const Clock::time_point end = Clock::now() + std::clamp(milliseconds, std::chrono::milliseconds(0), kLongest);
  if (!IsMadeHere(*run_)) WaitUntilOver(*run_, lock, end);
  return IsOver(run_->state);
}

Result<RunTensors> PendingRun::Take() {
  if (!run_) return Error(StatusCode::kInvalidArgument, "this pending run was moved from; ask the one it is in now");
  std::unique_lock lock(run_->mutex);
  if (!IsMadeHere(*run_)) WaitUntilOver(*run_, lock, std::nullopt);
  if (IsOver(run_->state)) return TakeOutputs(*run_);
  return Error(StatusCode::kInvalidArgument,
               "an on_done waits for a later run of its queue, which begins when it has returned: give that run an "
               "on_done of its own");
}

RunQueue::RunQueue(Session session) : data_(std::make_unique<RunQueueData>(std::move(session))) {
  data_->started = StartThread(data_->thread, [data = data_.get()] {
    Work(*data);
    if (data->ends_itself) delete data;
  });
}

RunQueue::~RunQueue() {
  // A forked child has neither the thread nor the session's driver objects.
  if (data_->process != ::getpid()) {
    static_cast<void>(data_.release());
    return;
  }
  {
    const std::scoped_lock lock(data_->mutex);
    for (const std::shared_ptr<QueuedRun>& run : data_->waiting) PendingRun(run).Cancel();
    if (data_->begun != nullptr) PendingRun(data_->begun).Cancel();
    data_->is_ending = true;
    data_->changed.notify_all();
  }
  if (data_->thread.get_id() == std::this_thread::get_id()) {
    data_->thread.detach();
    data_->ends_itself = true;
    static_cast<void>(data_.release());
    return;
  }
  if (data_->thread.joinable()) data_->thread.join();
}

PendingRun RunQueue::Submit(RunTensors inputs, QueuedRunOptions options) {
  auto run = std::make_shared<QueuedRun>();
  run->inputs = std::move(inputs);
  run->options = std::move(options);
  run->maker = data_->thread.get_id();
  const Status forked = data_->process == ::getpid()
                            ? Status::Ok()
                            : Error(StatusCode::kUnavailable,
                                    "this queue was made by process {}, of which this one is a fork", data_->process);
  if (const Status& none = forked.ok() ? data_->started : forked; !none.ok()) {
    End(*run, RunState::kFailed, none);
    Tell(*run);
    return PendingRun(std::move(run));
  }
  const std::scoped_lock lock(data_->mutex);
  data_->waiting.push_back(run);
  data_->changed.notify_all();
  return PendingRun(std::move(run));
}

}  // namespace hearth
