#include "runtime/session/background_device.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "core/base/error.h"
#include "core/base/numbers.h"
#include "core/base/threads.h"
#include "hal/device/stopping.h"
#include "runtime/session/move.h"

namespace hearth {
namespace {

// The first run usually follows the opening at once, and other work beside it would slow it down.
constexpr std::chrono::milliseconds kWaitForAnswer{20};

// The CPU's runs have priority, and still the device gets ready where both share a CPU. Measured beside CPU runs
// without pause, both on two busy cores: PoCL was ready after 1.6 times the time of a normal start, after 2.3 times
// with 5 steps.
constexpr int kStepsDown = 2;

constexpr int kMeasuredRuns = 5;
constexpr double kMeasuringMs = 200;

}  // namespace

BackgroundDevice::BackgroundDevice(Request request) : request_(std::move(request)) {
  request_.prepare.stop = stop_.get_token();
  if (const Status started = StartThread(thread_, [this] { Work(); }); !started.ok())
    progress_ = {.state = State::kGivenUp, .failure = started};
}

BackgroundDevice::~BackgroundDevice() {
  if (thread_.joinable()) stop_.request_stop();  // not after Take, whose result may use the token
  {
    const std::scoped_lock lock(mutex_);
    changed_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
}

BackgroundDevice::Progress BackgroundDevice::progress() const {
  const std::scoped_lock lock(mutex_);
  return progress_;
}

void BackgroundDevice::NoteRunBegins() {
  const std::scoped_lock lock(mutex_);
  has_begun_ = true;
}

void BackgroundDevice::NoteRunEnds() {
  const std::scoped_lock lock(mutex_);
  if (std::exchange(has_answered_, true)) return;
  changed_.notify_all();
}

void BackgroundDevice::Wait() const {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return progress_.state != State::kPreparing; });
}

std::unique_ptr<RunContext> BackgroundDevice::Take() {
  {
    const std::scoped_lock lock(mutex_);
    decision_ = Decision::kTake;
    changed_.notify_all();
  }
  thread_.join();
  return std::move(next_);
}

void BackgroundDevice::Dismiss() {
  const std::scoped_lock lock(mutex_);
  decision_ = Decision::kDismiss;
  progress_.state = State::kGivenUp;
  changed_.notify_all();
}

std::vector<std::string> BackgroundDevice::Store() {
  return next_->Store();
}

void BackgroundDevice::Work() {
  WaitForAnswer();
  Progress ready{.state = State::kReady};
  const Status status = Guarded([&] {
    HEARTH_TRY(MakeReady());
    ready.ready_ms = request_.since_asked.milliseconds();
    if (request_.rule != MoveRule::kWhenFaster) return Status::Ok();
    HEARTH_ASSIGN(ready.run_ms, MeasureRunMs());
    return Status::Ok();
  });
  if (!status.ok()) next_.reset();
  request_.prepare.device.reset();  // `next_` has it
  std::unique_lock lock(mutex_);
  progress_ = status.ok() ? ready : Progress{.state = State::kGivenUp, .failure = status};
  changed_.notify_all();
  if (!status.ok()) return;
  changed_.wait(lock, [&] { return decision_ != Decision::kNone || stop_.stop_requested(); });
  if (decision_ != Decision::kDismiss) return;
  lock.unlock();
  static_cast<void>(Guarded([&] {
    Store();
    return Status::Ok();
  }));
  next_.reset();
}

void BackgroundDevice::WaitForAnswer() {
  std::unique_lock lock(mutex_);
  const auto is_over = [&] { return has_answered_ || stop_.stop_requested(); };
  changed_.wait_for(lock, kWaitForAnswer, is_over);
  if (has_begun_) changed_.wait(lock, is_over);
}

Status BackgroundDevice::MakeReady() {
  if (stop_.stop_requested()) return Stopped();
  if (request_.prepare.device == nullptr) {
    HEARTH_ASSIGN(request_.prepare.device, request_.open(stop_.get_token()));
  }
  request_.prepare.device->host = MakeCpuExecutor(request_.threads);
  // Drivers start their own threads when they open, so the thread that opens and measures is not lowered.
  WorkBeside preparing([&] {
    const BackgroundWork work(request_.threads, request_.prepare.compile_threads);
    LowerPriority(kStepsDown);
    return PrepareAndRunOnce();
  });
  return preparing.Join();
}

Status BackgroundDevice::PrepareAndRunOnce() {
  const auto check_is_no_cpu = [](const OpenedDevice& opened) {
    if (!opened.info.is_host()) return Status::Ok();
    return Error(StatusCode::kUnavailable, "there is no device other than the CPU: {}",
                 opened.warnings.empty() ? opened.reason : opened.warnings.back());
  };
  if (stop_.stop_requested()) return Stopped();
  HEARTH_TRY(check_is_no_cpu(request_.prepare.device->opened));
  HEARTH_ASSIGN(next_, PrepareOnAUsableDevice(request_.prepare, request_.backends));
  HEARTH_TRY(check_is_no_cpu(next_->prepared().request.device->opened));
  if (stop_.stop_requested()) return Stopped();
  // Includes compilations that drivers postpone to the first run.
  Status ran = RunOnZeros();
  while (IsTheDevicesFault(ran) && HasNextDevice(next_->prepared().request)) {
    HEARTH_ASSIGN(next_, PrepareOnTheNextDevice(*next_, ran, request_.prepare.memory_limit_bytes, request_.backends));
    HEARTH_TRY(check_is_no_cpu(next_->prepared().request.device->opened));
    ran = RunOnZeros();
  }
  return ran;
}

// The initial content of a session's inputs.
Status BackgroundDevice::RunOnZeros() {
  RunControl trial = RunControl::ForTrial();
  const auto run = [&] { return next_->runs().Run(next_->OwnInputs(), next_->OwnOutputs(), {.control = &trial}); };
  Status status;
  RunWithoutBadEntries(next_, {.run = run, .control = &trial}, status);
  if (status.ok()) next_->NoteRun();
  return status;
}

Result<double> BackgroundDevice::MeasureRunMs() {
  std::vector<double> times;
  double sum_ms = 0;
  while (times.size() < kMeasuredRuns && sum_ms < kMeasuringMs) {
    if (stop_.stop_requested()) return Stopped();
    const Stopwatch watch;
    HEARTH_TRY(RunOnZeros());
    times.push_back(watch.milliseconds());
    sum_ms += times.back();
  }
  return Median(std::move(times));
}

}  // namespace hearth
