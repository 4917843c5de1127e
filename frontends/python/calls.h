// Calls from Python into Hearth. The calling thread is without Python's lock while Hearth works.
//
// No Python code runs meanwhile on that thread: what it logs is told at the end, and signal handlers run there too.
// Both may raise, and the exception is the call's. (Python code inside of Hearth could only have its exceptions
// ignored: ^C and the timeouts of handlers were lost so.)
#ifndef HEARTH_FRONTENDS_PYTHON_CALLS_H_
#define HEARTH_FRONTENDS_PYTHON_CALLS_H_

#include <pybind11/pybind11.h>

#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "frontends/python/gil.h"
#include "hearth/log.h"

namespace hearth {

// Sends Hearth's messages to callback(level, text), or with None to standard error. Messages of Hearth's own threads
// are told at once, where exceptions can only be printed.
void LogTo(const pybind11::object& callback);

// The messages of one call, in order.
class LogOfCall {
 public:
  LogOfCall();
  ~LogOfCall();
  LogOfCall(const LogOfCall&) = delete;
  LogOfCall& operator=(const LogOfCall&) = delete;

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
  LogOfCall* outer_;
};

// What `work` returns. The caller holds the GIL.
template <typename Work>
auto WithoutGil(Work&& work) {
  LogOfCall log;
  if constexpr (std::is_void_v<decltype(work())>) {
    {
      const ReleasedGil released;
      work();
    }
    log.Tell();
  } else {
    auto result = [&] {
      const ReleasedGil released;
      return work();
    }();
    log.Tell();
    return result;
  }
}

}  // namespace hearth

#endif  // HEARTH_FRONTENDS_PYTHON_CALLS_H_
