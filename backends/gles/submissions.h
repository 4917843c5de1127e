// Work handed to the context's thread that may not be finished, by number.
#ifndef HEARTH_BACKENDS_GLES_SUBMISSIONS_H_
#define HEARTH_BACKENDS_GLES_SUBMISSIONS_H_

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>

#include "backends/gles/driver_api.h"
#include "backends/gles/worker.h"
#include "hal/native.h"
#include "hal/wait_limit.h"

namespace hearth::gles {

// Thread-safe. Needs its worker and the context there until it is destroyed, which it must not be once the device has
// hung: the worker may still be at work for it.
class Submissions {
 public:
  // A software driver computes while it is called: each submission ends with glFinish there, since a wait for a fence
  // would come behind the submissions that were made meanwhile.
  Submissions(const GlApi& gl, Worker& worker, bool is_software)
      : gl_(gl), worker_(worker), is_software_(is_software) {}
  ~Submissions();

  // Runs `issue` on the worker behind all earlier submissions, and returns at once unless a fence is asked for. What
  // `issue` uses must live until Wait returned, and for ever where the device has hung.
  Result<uint64_t> Submit(std::function<Status()> issue, const SubmitSync& sync);

  WaitLimit& wait_limit() { return wait_limit_; }

  // Until this and all earlier submissions are finished. What went wrong in this one, once.
  Status Wait(uint64_t submission);

 private:
  // On the worker; kDeviceLost for any other answer than done. Zero: without end.
  Status WaitOnHost(GLsync fence, GLbitfield flags, std::chrono::nanoseconds limit) const;
  Status WaitForFences(const std::vector<SyncPoint>& points) const;  // on the worker
  void DropFences(uint64_t submission);                              // up to this one; on the worker

  const GlApi& gl_;
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
