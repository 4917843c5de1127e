// The device of a hot start, prepared on a background thread while the CPU answers.
#ifndef HEARTH_FRONTENDS_API_DEVICE_BEHIND_H_
#define HEARTH_FRONTENDS_API_DEVICE_BEHIND_H_

#include <condition_variable>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>

#include "frontends/api/session_data.h"
#include "hal/stopwatch.h"

namespace hearth {

// The thread opens the device, unless `next` holds it already, prepares everything at low priority and runs once with
// zeros; for MoveRule::kWhenFaster it also measures the time of a run. Then it waits for Take or Dismiss. It uses
// nothing of the session except shared read-only data and the store.
class DeviceBehind {
 public:
  explicit DeviceBehind(std::unique_ptr<SessionData> next);
  // Ends the thread, which makes no further driver call, and closes the device.
  ~DeviceBehind();

  enum class State { kPreparing, kReady, kGivenUp };
  State state() const;
  // The time from opening the session until the device was ready, and the median of its runs; 0 until then.
  double ready_ms() const;
  double run_ms() const;
  Status failure() const;  // why it was given up; Ok if it was dismissed

  // Called around the session's runs: the CPU is not disturbed until the first is over.
  void NoteRunBegins();
  void NoteRunEnds();

  // Waits until it is ready or given up.
  void Wait() const;

  // Precondition of the following functions: kReady. The prepared data.
  const SessionData& next() const { return *next_; }
  // Hands the prepared data over. After that the object has nothing left to do.
  std::unique_ptr<SessionData> Take();
  // Gives the device up: its thread stores what it made and closes the device.
  void Dismiss();
  // Stores what it made, on this thread.
  void Save();

 private:
  enum class Word { kNone, kTaken, kDismissed };

  void Work();
  Status MakeReady();
  Status PrepareAndRunOnce();
  Result<double> MeasureRunMs();
  void WaitForAnswer();
  void CloseDevice();

  const Stopwatch since_asked_;
  std::unique_ptr<SessionData> next_;
  std::stop_source stop_;
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  // Under the mutex.
  State state_ = State::kPreparing;
  Word word_ = Word::kNone;
  Status failure_;
  double ready_ms_ = 0, run_ms_ = 0;
  bool has_begun_ = false, has_answered_ = false;
  std::thread thread_;  // last: it uses the rest
};

}  // namespace hearth

#endif  // HEARTH_FRONTENDS_API_DEVICE_BEHIND_H_
