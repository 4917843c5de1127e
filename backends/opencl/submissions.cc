#include "backends/opencl/submissions.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <vector>

#include "core/base/error.h"

namespace hearth {

OpenClSubmissions::OpenClSubmissions(const OpenClApi& api) : api_(api) {
  OpenClTraffic::OfProcess().Add(this);
}

OpenClSubmissions::~OpenClSubmissions() {
  OpenClTraffic::OfProcess().Remove(this);
}

uint64_t OpenClSubmissions::Add(EventHandle last) {
  const std::lock_guard lock(mutex_);
  pending_.push_back({++count_, std::make_shared<EventHandle>(std::move(last))});
  return count_;
}

Status OpenClSubmissions::Wait(uint64_t submission) {
  // Shared: an entry may be erased while another thread still waits for it.
  std::vector<std::shared_ptr<EventHandle>> waited;
  {
    const std::lock_guard lock(mutex_);
    if (submission > count_) {
      return Error(StatusCode::kInvalidArgument, "there is no submission {}; the last is {}", submission, count_);
    }
    for (Pending& pending : pending_) {
      if (pending.number > submission) break;
      waited.push_back(pending.last);
    }
  }
  HEARTH_TRY(wait_limit_.Check());
  if (waited.empty()) {
    const std::lock_guard lock(mutex_);
    return TakeFailure(submission, CL_SUCCESS);
  }
  std::vector<cl_event> events;
  events.reserve(waited.size());
  for (const auto& event : waited) events.push_back(event->get());
  const cl_int code = WaitFor(events);
  HEARTH_TRY(wait_limit_.Check());
  const std::lock_guard lock(mutex_);
  while (!pending_.empty() && pending_.front().number <= submission) {
    const cl_int status = StatusOf(pending_.front().last->get());
    if (status < CL_COMPLETE) failures_.emplace(pending_.front().number, status);
    pending_.pop_front();
  }
  return TakeFailure(submission, code);
}

cl_int OpenClSubmissions::WaitFor(std::span<const cl_event> events) {
  const auto wait = [&] { return api_.clWaitForEvents(static_cast<cl_uint>(events.size()), events.data()); };
  if (!wait_limit_.is_set()) return wait();
  // OpenCL has no wait with a limit. The queue is in order, so the last event is polled: at first without a pause, then
  // at intervals of 1/32 of the time that has passed.
  using Clock = std::chrono::steady_clock;
  constexpr auto kShortest = std::chrono::microseconds(20), kLongest = std::chrono::microseconds(5000);
  for (const Clock::time_point begin = Clock::now(); StatusOf(events.back()) > CL_COMPLETE;) {
    const auto passed = Clock::now() - begin;
    if (passed > wait_limit_.limit()) {
      static_cast<void>(wait_limit_.Over());
      return CL_SUCCESS;
    }
    const auto pause = std::min<Clock::duration>(passed / 32, kLongest);
    if (pause < kShortest) {
      std::this_thread::yield();
    } else {
      std::this_thread::sleep_for(pause);
    }
  }
  return wait();
}

Status OpenClSubmissions::WaitForQueue(cl_command_queue queue) {
  HEARTH_TRY(wait_limit_.Check());
  cl_int code = CL_SUCCESS;
  if (wait_limit_.is_set()) {
    cl_event last = nullptr;
    code = api_.clEnqueueMarkerWithWaitList(queue, 0, nullptr, &last);
    if (code == CL_SUCCESS) {
      const EventHandle event(api_, last);
      code = api_.clFlush(queue);
      if (code == CL_SUCCESS) code = WaitFor(std::span(&last, 1));
    }
  } else {
    code = api_.clFinish(queue);
  }
  HEARTH_TRY(wait_limit_.Check());
  return code == CL_SUCCESS ? Status::Ok() : OpenClError(code, StatusCode::kDeviceLost, "waiting for a queue");
}

cl_int OpenClSubmissions::StatusOf(cl_event event) const {
  cl_int status = CL_COMPLETE;
  const cl_int code = api_.clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr);
  return code == CL_SUCCESS ? status : code;
}

Status OpenClSubmissions::TakeFailure(uint64_t submission, cl_int wait_code) {
  const auto failure = failures_.extract(submission);
  // A wait that fails because of another submission is not a failure of this one.
  const cl_int code = !failure.empty()                                            ? failure.mapped()
                      : wait_code == CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST ? CL_SUCCESS
                                                                                  : wait_code;
  if (code == CL_SUCCESS) return Status::Ok();
  return Error(StatusCode::kDeviceLost, "waiting for submission {}: {}", submission, OpenClErrorName(code));
}

bool OpenClSubmissions::AnyRunning() {
  const std::lock_guard lock(mutex_);
  return !pending_.empty() && StatusOf(pending_.back().last->get()) > CL_COMPLETE;
}

OpenClTraffic& OpenClTraffic::OfProcess() {
  static OpenClTraffic* const traffic = new OpenClTraffic;  // devices may be closed while the process exits
  return *traffic;
}

OpenClTraffic::Lock OpenClTraffic::ToEnqueue() {
  Lock lock(mutex_);
  last_enqueued_ = std::chrono::steady_clock::now();
  return lock;
}

bool OpenClTraffic::IsQuiet() {
  const Lock lock(mutex_, std::try_to_lock);  // another session's binaries may be being read
  return lock.owns_lock() && std::chrono::steady_clock::now() - last_enqueued_ > std::chrono::milliseconds(200) &&
         !AnyRunning();
}

bool OpenClTraffic::AnyRunning() const {
  return std::ranges::any_of(all_, &OpenClSubmissions::AnyRunning);
}

Result<OpenClTraffic::Lock> OpenClTraffic::ToReadBinaries() {
  using Clock = std::chrono::steady_clock;
  Lock lock(mutex_);
  for (const Clock::time_point begin = Clock::now(); AnyRunning();) {
    if (Clock::now() - begin > std::chrono::seconds(1))
      return Error(StatusCode::kUnavailable, "PoCL's binaries can't be read while kernels run, and some still do");
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return lock;
}

void OpenClTraffic::Add(OpenClSubmissions* submissions) {
  const Lock lock(mutex_);
  all_.insert(submissions);
}

void OpenClTraffic::Remove(OpenClSubmissions* submissions) {
  const Lock lock(mutex_);
  all_.erase(submissions);
}

}  // namespace hearth
