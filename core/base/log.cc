#include "core/base/log.h"

#include <mutex>
#include <utility>

namespace hearth {
namespace {

struct SinkSlot {
  std::recursive_mutex mutex;  // a sink that breaks a promise of Hearth's gets the last words too
  LogSink sink;
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

}  // namespace

void SetLogSink(LogSink sink) {
  const std::lock_guard lock(Slot().mutex);
  Slot().sink = std::move(sink);
}

bool HasLogSink() {
  const std::lock_guard lock(Slot().mutex);
  return Slot().sink != nullptr;
}

bool Log(LogLevel level, std::string_view message) {
  const std::lock_guard lock(Slot().mutex);
  if (Slot().sink == nullptr) return false;
  Slot().sink(level, message);
  return true;
}

}  // namespace hearth
