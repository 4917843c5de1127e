// Numbered submissions to the queue that may still be running.
#ifndef HEARTH_BACKENDS_OPENCL_SUBMISSIONS_H_
#define HEARTH_BACKENDS_OPENCL_SUBMISSIONS_H_

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <span>

#include "backends/opencl/driver_api.h"
#include "hal/device/wait_limit.h"

namespace hearth {

// Thread-safe.
class OpenClSubmissions {
 public:
  explicit OpenClSubmissions(const OpenClApi& api);
  ~OpenClSubmissions();

  // `last` is the event of a submission's last command. Returns the submission's number, counted from 1.
  uint64_t Add(EventHandle last);

  // Waits until this and all earlier submissions are finished. kDeviceLost, once, if the driver reports that this one
  // failed; kInvalidArgument for a number that was never given.
  Status Wait(uint64_t submission);

  // Waits, within the limit, until everything in `queue` is finished.
  Status WaitForQueue(cl_command_queue queue);

  bool AnyRunning();

  WaitLimit& wait_limit() { return wait_limit_; }

 private:
  struct Pending {
    uint64_t number = 0;
    std::shared_ptr<EventHandle> last;
  };

  cl_int WaitFor(std::span<const cl_event> events);           // CL_SUCCESS too when the device has hung
  cl_int StatusOf(cl_event event) const;                      // negative: it failed
  Status TakeFailure(uint64_t submission, cl_int wait_code);  // with the lock held

  const OpenClApi& api_;
  WaitLimit wait_limit_;
  std::mutex mutex_;
  uint64_t count_ = 0;
  std::deque<Pending> pending_;
  std::map<uint64_t, cl_int> failures_;
};

// All submissions of a process. PoCL 3.1 makes machine code while a binary is read, and ends the process (an assertion
// in its list of loaded code) if the same kernel runs meanwhile, in whichever queue. So kernels are enqueued or a
// binary is read, never both. Thread-safe.
class OpenClTraffic {
 public:
  using Lock = std::unique_lock<std::mutex>;
  static OpenClTraffic& OfProcess();

  // Hold it from the first command of a submission until OpenClSubmissions::Add.
  Lock ToEnqueue();

  // Whether nothing runs and nothing was enqueued for a fifth of a second. Never waits.
  bool IsQuiet();

  // Waits until nothing runs, and lets nobody enqueue while it is held. kUnavailable after a second: of runs that
  // take longer, or wait for the caller's events.
  Result<Lock> ToReadBinaries();

  void Add(OpenClSubmissions* submissions);
  void Remove(OpenClSubmissions* submissions);

 private:
  bool AnyRunning() const;  // with the lock held

  std::mutex mutex_;
  std::set<OpenClSubmissions*> all_;
  std::chrono::steady_clock::time_point last_enqueued_;
};

}  // namespace hearth

#endif  // HEARTH_BACKENDS_OPENCL_SUBMISSIONS_H_
