#include "backends/gles/worker.h"

#include <atomic>

#include "core/base/error.h"
#include "core/base/threads.h"

namespace hearth::gles {

Result<std::unique_ptr<Worker>> Worker::Start() {
  std::unique_ptr<Worker> worker(new Worker());
  HEARTH_TRY(StartThread(worker->thread_, [&self = *worker] { self.Loop(); }).Within("OpenGL ES"));
  return worker;
}

Worker::~Worker() {
  if (!thread_.joinable()) return;
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

std::future<void> Worker::Enqueue(std::packaged_task<void()> task) {
  std::future<void> done = task.get_future();
  {
    std::lock_guard lock(mutex_);
    tasks_.push_back(std::move(task));
  }
  wake_.notify_one();
  return done;
}

bool Worker::CallWithin(std::chrono::nanoseconds limit, const std::function<void()>& work) {
  if (std::this_thread::get_id() == thread_.get_id()) {
    work();
    return true;
  }
  // The thread with the work and the caller who gives up compete for it; the first one takes it.
  const auto is_taken = std::make_shared<std::atomic<bool>>(false);
  std::future<void> done = Enqueue(std::packaged_task<void()>([is_taken, &work] {
    if (!is_taken->exchange(true)) work();
  }));
  const auto is_at_posted = [this] {
    const std::lock_guard lock(mutex_);
    return is_at_posted_;
  };
  while (done.wait_for(limit) != std::future_status::ready) {
    if (is_at_posted() && !is_taken->exchange(true)) return false;
  }
  done.get();
  return true;
}

void Worker::Post(std::function<void()> work) {
  {
    std::lock_guard lock(mutex_);
    posted_.push_back(std::move(work));
  }
  wake_.notify_one();
}

void Worker::Loop() {
  std::unique_lock lock(mutex_);
  while (true) {
    wake_.wait(lock, [this] { return stopping_ || !tasks_.empty() || !posted_.empty(); });
    if (!tasks_.empty()) {
      std::packaged_task<void()> task = std::move(tasks_.front());
      tasks_.pop_front();
      lock.unlock();
      task();
    } else if (!posted_.empty()) {
      const std::function<void()> work = std::move(posted_.front());
      posted_.pop_front();
      is_at_posted_ = true;
      lock.unlock();
      work();
      lock.lock();
      is_at_posted_ = false;
      continue;
    } else {
      return;
    }
    lock.lock();
  }
}

}  // namespace hearth::gles
