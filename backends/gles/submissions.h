// Numbered work on the context's thread that may not be finished.
#ifndef HEARTH_BACKENDS_GLES_SUBMISSIONS_H_
#define HEARTH_BACKENDS_GLES_SUBMISSIONS_H_

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>

#include "backends/gles/driver.h"
#include "backends/gles/worker.h"
#include "hal/device/native.h"
#include "hal/device/wait_limit.h"

namespace hearth::gles {

// Thread-safe. Its worker and the context must outlive it. It must not be destroyed once the device has hung, because
// the worker may still use it.
class Submissions {
 public:
  // A software driver computes inside the call, so each submission ends with glFinish: a wait for a fence would also
  // wait for submissions made meanwhile.
  Submissions(Worker& worker, bool is_software) : worker_(worker), is_software_(is_software) {}
  ~Submissions();

  // Runs `issue` on the worker after all earlier submissions. Returns at once unless a fence is requested. Objects that
  // `issue` uses must live until Wait has returned, and for ever if the device has hung.
  Result<uint64_t> Submit(std::function<Status()> issue, const SubmitSync& sync);

  WaitLimit& wait_limit() { return wait_limit_; }

  // Waits until this and all earlier submissions are finished. Reports this one's error once.
  Status Wait(uint64_t submission);

 private:
  // On the worker. kDeviceLost unless the fence is signaled in time; zero: no limit.
  Status WaitOnHost(GLsync fence, GLbitfield flags, std::chrono::nanoseconds limit) const;
  Status WaitForFences(const std::vector<SyncPoint>& points) const;  // on the worker
  void DropFences(uint64_t submission);                              // up to this one; on the worker

  Worker& worker_;
  const bool is_software_;
  WaitLimit wait_limit_;
  std::mutex mutex_;
  std::condition_variable issued_one_;
  uint64_t count_ = 0, issued_ = 0;
  std::map<uint64_t, Status> failures_;
  std::map<uint64_t, GLsync> fences_;
};

}  // namespace hearth::gles

#endif  // HEARTH_BACKENDS_GLES_SUBMISSIONS_H_
