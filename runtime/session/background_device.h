// The device of a hot start, prepared on a background thread while the CPU answers.
#ifndef HEARTH_RUNTIME_SESSION_BACKGROUND_DEVICE_H_
#define HEARTH_RUNTIME_SESSION_BACKGROUND_DEVICE_H_

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "hal/device/stopwatch.h"
#include "runtime/session/run_context.h"

namespace hearth {

// When a hot session moves to the device in the background.
enum class MoveRule : uint8_t {
  kWhenFaster,
  kWhenReady,  // for tests; also set by the environment variable HEARTH_HOT_MOVE=ready
};

// The thread opens the device, unless it is open already, prepares everything at low priority and runs once with zeros;
// for MoveRule::kWhenFaster it also measures the time of a run. Then it waits for Take or Dismiss. It uses nothing of
// the session except shared read-only data and the store.
class BackgroundDevice {
 public:
  struct Request {
    PrepareRequest prepare;  // without a device: `open` opens it
    std::function<Result<std::shared_ptr<SessionDevice>>(const std::stop_token& stop)> open;
    std::span<const BackendDef> backends;
    std::shared_ptr<BackgroundThreads> threads;  // where the CPU that answers counts the threads that compile
    MoveRule rule = MoveRule::kWhenFaster;
    Stopwatch since_asked;  // from opening the session
  };
  explicit BackgroundDevice(Request request);
  // Ends the thread, which makes no further driver call, and closes the device.
  ~BackgroundDevice();

  enum class State { kPreparing, kReady, kGivenUp };
  struct Progress {
    State state = State::kPreparing;
    // The time from opening the session until the device was ready, and the median of its runs; 0 until then.
    double ready_ms = 0, run_ms = 0;
    Status failure = {};  // why it was given up; Ok if it was dismissed
  };
  Progress progress() const;
  MoveRule rule() const { return request_.rule; }

  // Called around the session's runs: the CPU is not disturbed until the first is over.
  void NoteRunBegins();
  void NoteRunEnds();

  // Waits until it is ready or given up.
  void Wait() const;

  // Precondition of the following functions: kReady. What is ready.
  const RunContext& next() const { return *next_; }
  // Hands it over. After that the object has nothing left to do.
  std::unique_ptr<RunContext> Take();
  // Gives the device up: its thread stores what it made and closes the device.
  void Dismiss();
  // Stores what it made, on this thread. Returns warnings.
  std::vector<std::string> Store();

 private:
  // What the session has decided.
  enum class Decision { kNone, kTake, kDismiss };

  void Work();
  Status MakeReady();
  Status PrepareAndRunOnce();
  Status RunOnZeros();
  Result<double> MeasureRunMs();
  void WaitForAnswer();

  std::stop_source stop_;
  Request request_;
  std::unique_ptr<RunContext> next_;
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  // Under the mutex.
  Progress progress_;
  Decision decision_ = Decision::kNone;
  bool has_begun_ = false, has_answered_ = false;
  std::thread thread_;  // last: it uses the rest
};

}  // namespace hearth

#endif  // HEARTH_RUNTIME_SESSION_BACKGROUND_DEVICE_H_
