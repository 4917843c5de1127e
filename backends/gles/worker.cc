#include "backends/gles/worker.h"

#include <system_error>

#include "core/base/error.h"

namespace hearth::gles {

Result<std::unique_ptr<Worker>> Worker::Start() {
  std::unique_ptr<Worker> worker(new Worker());
  try {
    worker->thread_ = std::thread([&self = *worker] { self.Loop(); });
  } catch (const std::system_error& error) {
    return Error(StatusCode::kResourceExhausted, "no thread for OpenGL ES could be started: {}", error.what());
  }
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
      lock.unlock();
      work();
    } else {
      return;
    }
    lock.lock();
  }
}

}  // namespace hearth::gles
