#include "core/base/log.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <utility>

namespace hearth {
namespace {

struct SinkSlot {
  std::recursive_mutex mutex;  // a sink that breaks a promise of Hearth's gets the last words too
  LogSink sink;
  bool is_silent = false;  // without a sink and HEARTH_LOG
};

// Never destroyed: sessions may end after this file's statics. In memory of the library's own, so that a plugin that is
// unloaded leaves nothing behind.
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

// The least level, as a number, that goes to standard error. Read each time: messages are few, and a program may set
// it.
size_t DefaultLevel(bool is_silent) {
  const char* said = std::getenv("HEARTH_LOG");
  if (said == nullptr || *said == '\0') return is_silent ? kLevels.size() - 1 : static_cast<size_t>(LogLevel::kWarning);
  const auto* found = std::find(kLevels.begin(), kLevels.end(), std::string_view(said));
  return found != kLevels.end() ? static_cast<size_t>(found - kLevels.begin())
                                : static_cast<size_t>(LogLevel::kWarning);
}

bool IsLoggedBy(const SinkSlot& slot, LogLevel level) {
  return slot.sink != nullptr || static_cast<size_t>(level) >= DefaultLevel(slot.is_silent);
}

}  // namespace

void SetLogSink(LogSink sink) {
  const std::lock_guard lock(Slot().mutex);
  Slot().sink = std::move(sink);
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
  if (Slot().sink != nullptr) {
    Slot().sink(level, message);
  } else {
    const std::string_view word = kLevels.at(static_cast<size_t>(level));
    std::fprintf(stderr, "hearth: %.*s: %.*s\n", static_cast<int>(word.size()), word.data(),
                 static_cast<int>(message.size()), message.data());
  }
  return true;
}

}  // namespace hearth
