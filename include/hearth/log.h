// Hearth's messages go to the program's one sink. Without a sink, warnings and errors go to standard error, so that a
// fallback or a lost cache is noticed; the environment variable HEARTH_LOG sets another level: off, error, warning,
// info or debug. Nothing goes to standard output.
#ifndef HEARTH_LOG_H_
#define HEARTH_LOG_H_

#include <cstdint>
#include <functional>
#include <string_view>

#include "hearth/export.h"

namespace hearth {

enum class LogLevel : uint8_t {
  kDebug,    // phases of a start with their times, cache hits
  kInfo,     // the device of a session, and the reason
  kWarning,  // something works, but not as well as possible; also in the session's report
  kError,    // an internal error, before the process aborts
};

// Called on the thread that logs, one call at a time. It must not call Hearth, except SetLogSink. Exceptions are
// dropped after a line on standard error.
using LogSink = std::function<void(LogLevel, std::string_view message)>;

// Sets the sink of the whole process; empty: standard error, the default. A sink that does nothing silences Hearth.
// When this returns, no call of the old sink is running. Any thread.
HEARTH_EXPORT void SetLogSink(LogSink sink);

}  // namespace hearth

#endif  // HEARTH_LOG_H_
