#include "core/base/log.h"

#include <cxxabi.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "core/base/text.h"

namespace hearth {
namespace {

struct SinkSlot {
  std::recursive_mutex mutex;           // recursive: SetLogSink in a sink, or a forbidden log call, does not deadlock
  std::shared_ptr<const LogSink> sink;  // a call of it holds it: it may set another
  bool is_silent = false;               // without a sink and HEARTH_LOG
};

// Never destroyed: sessions may end after this file's statics. Not on the heap: a plugin that is unloaded leaks
// nothing.
union LastingSlot {
  LastingSlot() : slot() {}
  ~LastingSlot() {}
  SinkSlot slot;
};

SinkSlot& Slot() {
  static LastingSlot lasting;
  return lasting.slot;
}

constexpr std::array<std::string_view, 5> kLevels = {"debug", "info", "warning", "error", "off"};

void PrintLine(std::string_view level, std::string_view message) {
  std::fprintf(stderr, "hearth: %s: %s\n", std::string(level).c_str(), Printable(message, ' ', "\n\t").c_str());
}

void TellUnknownLevelOnce(std::string_view said) {
  static std::atomic<bool> is_told = false;
  if (is_told.exchange(true)) return;
  PrintLine("warning", "HEARTH_LOG is '" + std::string(said) +
                           "', which is no level, and 'warning' is taken: set off, error, warning, info or debug");
}

// The least level, as a number, that goes to standard error. Read each time: messages are few, and a program may set
// it.
size_t DefaultLevel(bool is_silent) {
  const char* said = std::getenv("HEARTH_LOG");
  if (said == nullptr || *said == '\0') return is_silent ? kLevels.size() - 1 : static_cast<size_t>(LogLevel::kWarning);
  const auto* found = std::find(kLevels.begin(), kLevels.end(), std::string_view(said));
  if (found != kLevels.end()) return static_cast<size_t>(found - kLevels.begin());
  TellUnknownLevelOnce(said);
  return static_cast<size_t>(LogLevel::kWarning);
}

// Exceptions of a sink are printed and dropped: most callers must not fail.
void TellSink(const LogSink& sink, LogLevel level, std::string_view message) {
  try {
    sink(level, message);
  } catch (const abi::__forced_unwind&) {
    throw;  // the thread ends
  } catch (const std::exception& error) {
    PrintLine("error", std::string("the log sink threw '") + error.what() + "' at: " + std::string(message));
  } catch (...) {
    PrintLine("error", "the log sink threw at: " + std::string(message));
  }
}

bool IsLoggedBy(const SinkSlot& slot, LogLevel level) {
  return slot.sink != nullptr || static_cast<size_t>(level) >= DefaultLevel(slot.is_silent);
}

}  // namespace

void SetLogSink(LogSink sink) {
  std::shared_ptr<const LogSink> next;
  if (sink != nullptr) next = std::make_shared<const LogSink>(std::move(sink));
  const std::lock_guard lock(Slot().mutex);
  Slot().sink.swap(next);
}

void SilenceDefaultLog() {
  const std::lock_guard lock(Slot().mutex);
  Slot().is_silent = true;
}

bool IsLogged(LogLevel level) {
  const std::lock_guard lock(Slot().mutex);
  return IsLoggedBy(Slot(), level);
}

bool Log(LogLevel level, std::string_view message) {
  const std::lock_guard lock(Slot().mutex);
  if (!IsLoggedBy(Slot(), level)) return false;
  if (const std::shared_ptr<const LogSink> sink = Slot().sink; sink != nullptr) {
    TellSink(*sink, level, message);
  } else {
    PrintLine(kLevels.at(static_cast<size_t>(level)), message);
  }
  return true;
}

}  // namespace hearth
