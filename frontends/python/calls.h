// Calls from Python into Hearth. The calling thread is without Python's lock while Hearth works.
//
// No Python code runs meanwhile on that thread: what it logs is told at the end, and signal handlers run there too.
// Both may raise, and the exception is the call's. (Python code inside of Hearth could only have its exceptions
// ignored: ^C and the timeouts of handlers were lost so.)
#ifndef HEARTH_FRONTENDS_PYTHON_CALLS_H_
#define HEARTH_FRONTENDS_PYTHON_CALLS_H_

#include <Python.h>
#include <pybind11/pybind11.h>
#include <unistd.h>

#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "hearth/log.h"

namespace hearth {

// Releasing and taking Python's global lock in threads that may outlive Python. Until Python 3.14, a thread that takes
// the lock while Python ends is itself ended, by unwinding its stack like pthread_exit; unwinding through a destructor
// aborts the process. Here such threads wait for the end of the process, as in Python 3.14.
[[noreturn]] inline void WaitForTheEndOfTheProcess() {
  while (true) ::pause();
}

// While this object lives, the calling thread, which holds the lock, is without it.
class ReleasedGil {
 public:
  ReleasedGil() : state_(PyEval_SaveThread()) {}
  ~ReleasedGil() {
    try {
      PyEval_RestoreThread(state_);
    } catch (...) {  // the unwinding
      WaitForTheEndOfTheProcess();
    }
  }
  ReleasedGil(const ReleasedGil&) = delete;
  ReleasedGil& operator=(const ReleasedGil&) = delete;

 private:
  PyThreadState* state_;
};

// While this object lives, the calling thread holds the lock.
class AcquiredGil {
 public:
  AcquiredGil() : state_(Acquired()) {}
  ~AcquiredGil() { PyGILState_Release(state_); }
  AcquiredGil(const AcquiredGil&) = delete;
  AcquiredGil& operator=(const AcquiredGil&) = delete;

 private:
  static PyGILState_STATE Acquired() {
    try {
      return PyGILState_Ensure();
    } catch (...) {  // the unwinding
      WaitForTheEndOfTheProcess();
    }
  }

  PyGILState_STATE state_;
};

// Sends Hearth's messages to callback(level, text), or with None to standard error. Messages of Hearth's own threads
// are told at once, where exceptions can only be printed.
void LogTo(const pybind11::object& callback);

// The messages of one call, in order.
class LogOfCall {
 public:
  // While it lives, messages of the calling thread go to `log`.
  class Scope {
   public:
    explicit Scope(LogOfCall& log);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    LogOfCall* outer_;
  };

  // Of the calling thread; null outside of calls.
  static LogOfCall* Current();

  void Add(std::shared_ptr<const pybind11::object> callback, LogLevel level, std::string_view text);

  // Runs signal handlers that wait, then tells the messages. Throws the first exception; the rest is not told then.
  // Needs the GIL.
  void Tell();

 private:
  struct Message {
    std::shared_ptr<const pybind11::object> callback;
    LogLevel level;
    std::string text;
  };
  std::vector<Message> messages_;
};

// Whether Python runs signal handlers on the calling thread. Needs the GIL, as the next one does.
bool IsMainThread();

// Calls `is_over` without the GIL and signal handlers with it by turns. If a handler raises, calls `end` without the
// GIL and throws its exception.
void RunSignalHandlersUntil(const std::function<bool()>& is_over, const std::function<void()>& end);

// What `work` returns. The caller holds the GIL.
template <typename Work>
auto WithoutGil(Work&& work) {
  LogOfCall log;
  const auto worked = [&] {
    const LogOfCall::Scope scope(log);
    const ReleasedGil released;
    return work();
  };
  if constexpr (std::is_void_v<decltype(work())>) {
    worked();
    log.Tell();
  } else {
    auto result = worked();
    log.Tell();
    return result;
  }
}

// Runs `work(stop)`, which returns something, like WithoutGil. On Python's main thread, where alone signal handlers
// run, they run meanwhile too, since `work` then has a thread of its own: when one raises, a stop is requested, and its
// exception is thrown when `work` has ended.
template <typename Work>
auto Stoppable(Work&& work) {
  const std::stop_source stop;
  const auto work_with_stop = [&] { return work(stop.get_token()); };
  if (!IsMainThread()) return WithoutGil(work_with_stop);
  LogOfCall log;
  // Its exceptions are passed on; a thread that can't be started is one.
  std::future<decltype(work_with_stop())> result = std::async(std::launch::async, [&] {
    const LogOfCall::Scope scope(log);
    return work_with_stop();
  });
  RunSignalHandlersUntil([&] { return result.wait_for(std::chrono::milliseconds(50)) == std::future_status::ready; },
                         [&] {
                           stop.request_stop();
                           result.wait();
                         });
  auto made = result.get();
  log.Tell();
  return made;
}

}  // namespace hearth

#endif  // HEARTH_FRONTENDS_PYTHON_CALLS_H_
