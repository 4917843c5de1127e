// The thread that owns a GL context. A context is current on one thread only, but Hearth's callers come from any
// thread. So all GL work is handed to this thread; the caller waits for it unless it is a submission.
#ifndef HEARTH_BACKENDS_GLES_WORKER_H_
#define HEARTH_BACKENDS_GLES_WORKER_H_

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <type_traits>
#include <utility>

#include "hearth/status.h"

namespace hearth::gles {

class Worker {
 public:
  // kResourceExhausted if the system starts no thread.
  static Result<std::unique_ptr<Worker>> Start();
  ~Worker();  // finishes the posted work, then ends the thread

  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  // Runs `work` on the thread and returns its result (or throws its exception). Calls from several threads run in order
  // of arrival, before posted work that has not begun. A call from the thread itself runs at once.
  template <typename Work>
  std::invoke_result_t<Work&> Call(Work&& work) {
    using Answer = std::invoke_result_t<Work&>;
    if (std::this_thread::get_id() == thread_.get_id()) return work();
    if constexpr (std::is_void_v<Answer>) {
      Enqueue(std::packaged_task<void()>(std::ref(work))).get();
    } else {
      std::optional<Answer> answer;
      Enqueue(std::packaged_task<void()>([&] { answer.emplace(work()); })).get();
      return *std::move(answer);
    }
  }

  // Call, unless posted work keeps the thread busy for longer than `limit`: then it returns false and `work` is not
  // done.
  bool CallWithin(std::chrono::nanoseconds limit, const std::function<void()>& work);

  // Posts `work` and returns. Posted work runs in order of arrival, while no call waits.
  void Post(std::function<void()> work);

 private:
  Worker() = default;
  std::future<void> Enqueue(std::packaged_task<void()> task);
  void Loop();

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::packaged_task<void()>> tasks_;
  std::deque<std::function<void()>> posted_;
  bool stopping_ = false, is_at_posted_ = false;
  std::thread thread_;
};

}  // namespace hearth::gles

#endif  // HEARTH_BACKENDS_GLES_WORKER_H_
