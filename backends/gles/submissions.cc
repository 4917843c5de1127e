#include "backends/gles/submissions.h"

#include <utility>
#include <vector>

#include "core/base/error.h"

namespace hearth::gles {

Submissions::~Submissions() {
  worker_.Call([this] { DropFences(UINT64_MAX); });
}

Status Submissions::WaitOnHost(GLsync fence, GLbitfield flags, std::chrono::nanoseconds limit) const {
  const GLuint64 limit_ns = limit.count() > 0 ? static_cast<GLuint64>(limit.count()) : GL_TIMEOUT_IGNORED;
  const GLenum answer = glClientWaitSync(fence, flags, limit_ns);
  if (answer == GL_ALREADY_SIGNALED || answer == GL_CONDITION_SATISFIED) return Status::Ok();
  const Status error = TakeGlErrors("waiting for a fence");
  return Error(StatusCode::kDeviceLost, "glClientWaitSync answered 0x{:x}{}{}: the work before it did not finish",
               answer, error.ok() ? "" : ", ", error.message());
}

Status Submissions::WaitForFences(const std::vector<SyncPoint>& points) const {
  for (const SyncPoint& point : points) {
    const auto fence = reinterpret_cast<GLsync>(point.handle);
    if (glIsSync(fence) != GL_TRUE)
      return Error(StatusCode::kInvalidArgument, "0x{:x} is not a fence of the share group", point.handle);
    if (is_software_) {
      HEARTH_TRY(WaitOnHost(fence, GL_SYNC_FLUSH_COMMANDS_BIT, std::chrono::nanoseconds::zero()));
    } else {
      glWaitSync(fence, 0, GL_TIMEOUT_IGNORED);
    }
  }
  return Status::Ok();
}

Result<uint64_t> Submissions::Submit(std::function<Status()> issue, const SubmitSync& sync) {
  if (!sync.signal.empty())
    return Error(StatusCode::kUnsupported,
                 "OpenGL ES can't signal the caller's objects; ask for a fence (a GLsync) instead");
  HEARTH_TRY(wait_limit_.Check());
  std::unique_lock lock(mutex_);
  const uint64_t number = ++count_;
  std::vector<SyncPoint> waits(sync.wait_for.begin(), sync.wait_for.end());
  worker_.Post([this, number, waits = std::move(waits), issue = std::move(issue), fence = sync.fence] {
    Status status = WaitForFences(waits);
    if (status.ok()) status = issue();
    if (fence != nullptr) *fence = reinterpret_cast<uint64_t>(glFenceSync(GL_SYNC_GPU_COMMANDS_COMPLETE, 0));
    GLsync own = nullptr;
    if (is_software_) {
      glFinish();
    } else {
      own = glFenceSync(GL_SYNC_GPU_COMMANDS_COMPLETE, 0);
      glFlush();
      if (own == nullptr && status.ok())
        status = Error(StatusCode::kDeviceLost, "glFenceSync gave no fence for submission {}", number);
    }
    const std::lock_guard done(mutex_);
    issued_ = number;
    if (!status.ok()) failures_.emplace(number, std::move(status));
    if (own != nullptr) fences_.emplace(number, own);
    issued_one_.notify_all();
  });
  if (sync.fence != nullptr) issued_one_.wait(lock, [&] { return issued_ >= number; });
  return number;
}

Status Submissions::Wait(uint64_t submission) {
  HEARTH_TRY(wait_limit_.Check());
  using Clock = std::chrono::steady_clock;
  const Clock::time_point begin = Clock::now();
  GLsync fence = nullptr;
  {
    std::unique_lock lock(mutex_);
    if (submission > count_) {
      return Error(StatusCode::kInvalidArgument, "there is no submission {}; the last is {}", submission, count_);
    }
    const auto is_issued = [&] { return issued_ >= submission; };
    if (!wait_limit_.is_set()) {
      issued_one_.wait(lock, is_issued);
    } else if (!issued_one_.wait_for(lock, wait_limit_.limit(), is_issued)) {
      return wait_limit_.Over();
    }
    if (const auto found = fences_.find(submission); found != fences_.end()) fence = found->second;
  }
  Status waited;
  if (fence != nullptr) {
    const std::chrono::nanoseconds limit = wait_limit_.limit();
    waited = worker_.Call([&] {
      Status status = WaitOnHost(fence, 0, limit);
      if (status.ok()) DropFences(submission);
      return status;
    });
    if (!waited.ok() && wait_limit_.is_set() && Clock::now() - begin >= limit) return wait_limit_.Over();
  }
  const std::lock_guard lock(mutex_);
  auto failure = failures_.extract(submission);
  return failure.empty() ? waited : std::move(failure.mapped());
}

void Submissions::DropFences(uint64_t submission) {
  const std::lock_guard lock(mutex_);
  while (!fences_.empty() && fences_.begin()->first <= submission) {
    glDeleteSync(fences_.begin()->second);
    fences_.erase(fences_.begin());
  }
}

}  // namespace hearth::gles
