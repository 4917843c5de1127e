#include "frontends/api/device_behind.h"

#include <algorithm>
#include <chrono>
#include <tuple>
#include <utility>

#include "backends/cpu/process_limits.h"
#include "core/base/background_work.h"
#include "core/base/error.h"
#include "core/base/numbers.h"
#include "core/base/threads.h"
#include "core/base/trial_run.h"
#include "frontends/api/next_device.h"
#include "frontends/api/session_device.h"
#include "hal/stopping.h"

namespace hearth {
namespace {

// The first run usually follows the opening at once, and other work beside it would slow it down.
constexpr std::chrono::milliseconds kWaitForAnswer{20};

// The CPU's runs have priority, and still the device gets ready where both share a CPU. Measured beside CPU runs
// without pause, both on two busy cores: PoCL was ready after 1.6 times the time of a normal start, after 2.3 times
// with 5 steps.
constexpr int kStepsDown = 2;

// Half of the CPUs: then the device is ready after at most about twice the time of a normal start.
int CompileThreads() {
  return std::max(1, UsableCpus() / 2);
}

constexpr int kMeasuredRuns = 5;
constexpr double kMeasuringMs = 200;

// Runs on zero inputs, the initial content of a session's inputs.
Status RunOnZeros(SessionData& data) {
  const TrialRun trial;
  return RunOnOwnMemory(data, nullptr);
}

}  // namespace

DeviceBehind::DeviceBehind(std::unique_ptr<SessionData> next)
    : since_asked_(next->since_asked), next_(std::move(next)) {
  next_->stop = stop_.get_token();
  next_->compile_threads = CompileThreads();
  failure_ = StartThread(thread_, [this] { Work(); });
  if (!failure_.ok()) state_ = State::kGivenUp;
}

DeviceBehind::~DeviceBehind() {
  if (next_ != nullptr) stop_.request_stop();
  {
    const std::scoped_lock lock(mutex_);
    changed_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
}

DeviceBehind::State DeviceBehind::state() const {
  const std::scoped_lock lock(mutex_);
  return state_;
}

double DeviceBehind::ready_ms() const {
  const std::scoped_lock lock(mutex_);
  return ready_ms_;
}

double DeviceBehind::run_ms() const {
  const std::scoped_lock lock(mutex_);
  return run_ms_;
}

Status DeviceBehind::failure() const {
  const std::scoped_lock lock(mutex_);
  return failure_;
}

void DeviceBehind::NoteRunBegins() {
  const std::scoped_lock lock(mutex_);
  has_begun_ = true;
}

void DeviceBehind::NoteRunEnds() {
  const std::scoped_lock lock(mutex_);
  if (std::exchange(has_answered_, true)) return;
  changed_.notify_all();
}

void DeviceBehind::Wait() const {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return state_ != State::kPreparing; });
}

std::unique_ptr<SessionData> DeviceBehind::Take() {
  {
    const std::scoped_lock lock(mutex_);
    word_ = Word::kTaken;
    changed_.notify_all();
  }
  thread_.join();
  next_->stop = {};
  return std::move(next_);
}

void DeviceBehind::Dismiss() {
  const std::scoped_lock lock(mutex_);
  word_ = Word::kDismissed;
  state_ = State::kGivenUp;
  changed_.notify_all();
}

void DeviceBehind::Save() {
  SaveData(*next_);
}

void DeviceBehind::Work() {
  WaitForAnswer();
  double ready_ms = 0, run_ms = 0;
  const Status status = Guarded([&] {
    HEARTH_TRY(MakeReady());
    ready_ms = since_asked_.milliseconds();
    if (next_->move_rule != MoveRule::kWhenFaster) return Status::Ok();
    HEARTH_ASSIGN(run_ms, MeasureRunMs());
    return Status::Ok();
  });
  if (!status.ok()) CloseDevice();
  std::unique_lock lock(mutex_);
  state_ = status.ok() ? State::kReady : State::kGivenUp;
  failure_ = status;
  if (status.ok()) std::tie(ready_ms_, run_ms_) = std::pair(ready_ms, run_ms);
  changed_.notify_all();
  if (!status.ok()) return;
  changed_.wait(lock, [&] { return word_ != Word::kNone || stop_.stop_requested(); });
  if (word_ != Word::kDismissed) return;
  lock.unlock();
  static_cast<void>(Guarded([&] {
    SaveData(*next_);
    return Status::Ok();
  }));
  CloseDevice();
}

void DeviceBehind::CloseDevice() {
  next_->runner.reset();
  next_->opened.device.reset();
}

void DeviceBehind::WaitForAnswer() {
  std::unique_lock lock(mutex_);
  const auto is_over = [&] { return has_answered_ || stop_.stop_requested(); };
  changed_.wait_for(lock, kWaitForAnswer, is_over);
  if (has_begun_) changed_.wait(lock, is_over);
}

Status DeviceBehind::MakeReady() {
  if (stop_.stop_requested()) return Stopped();
  if (next_->opened.id.empty()) {
    HEARTH_ASSIGN(next_->opened, OpenAskedDevice(*next_));
  }
  // Drivers start their own threads when they open, so the thread that opens and measures is not lowered.
  WorkBeside preparing([&] {
    const BackgroundWork work(next_->compile_threads);
    LowerPriority(kStepsDown);
    return PrepareAndRunOnce();
  });
  HEARTH_TRY(preparing.Join());
  if (next_->opened.device != nullptr) return Status::Ok();
  const std::vector<std::string>& warnings = next_->opened.warnings;
  return Error(StatusCode::kUnavailable, "there is no device other than the CPU: {}",
               warnings.empty() ? next_->opened.reason : warnings.back());
}

Status DeviceBehind::PrepareAndRunOnce() {
  if (stop_.stop_requested()) return Stopped();
  if (next_->opened.device == nullptr) return Status::Ok();  // MakeReady reports it
  HEARTH_TRY(PrepareOnAUsableDevice(*next_));
  if (stop_.stop_requested()) return Stopped();
  // Includes compilations that drivers postpone to the first run.
  return RunOnZeros(*next_);
}

Result<double> DeviceBehind::MeasureRunMs() {
  std::vector<double> times;
  double sum_ms = 0;
  while (times.size() < kMeasuredRuns && sum_ms < kMeasuringMs) {
    if (stop_.stop_requested()) return Stopped();
    const Stopwatch watch;
    HEARTH_TRY(RunOnZeros(*next_));
    times.push_back(watch.milliseconds());
    sum_ms += times.back();
  }
  return Median(std::move(times));
}

}  // namespace hearth
