// The device of a hot start: made ready on a thread behind a session that the CPU answers meanwhile.
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

// The thread opens the device, unless `next` holds it already, makes everything ready at low priority and runs once
// with zeros; for MoveRule::kWhenFaster it also measures what a run takes. Then it waits for its owner's word. It
// touches nothing of the session but what the two share for reading and the store.
class DeviceBehind {
 public:
  explicit DeviceBehind(std::unique_ptr<SessionData> next);
  // Ends the thread, which begins no further call to the driver, and closes the device.
  ~DeviceBehind();

  enum class State { kPreparing, kReady, kGivenUp };
  State state() const;
  // From the asking for the session until the device was ready, and the median of its runs; 0 until then.
  double ready_ms() const;
  double run_ms() const;
  Status failure() const;  // why it was given up; Ok where it was dismissed

  // Around the session's runs: until the first is over, the CPU is not disturbed.
  void NoteRunBegins();
  void NoteRunEnds();

  // Until it is ready or given up.
  void Wait() const;

  // Preconditions for the following: kReady. What is ready, to be looked at.
  const SessionData& next() const { return *next_; }
  // To be taken over. The object has nothing left to do then.
  std::unique_ptr<SessionData> Take();
  // It is not wanted: what it made is stored and the device closed, on its thread.
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
