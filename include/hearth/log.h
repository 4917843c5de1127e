// Where Hearth's messages go: to the one sink that the program gives. Without one, warnings and errors go to standard
// error, so that a fallback or a lost cache is seen; the environment variable HEARTH_LOG says another level: off,
// error, warning, info or debug. Nothing goes to standard output.
#ifndef HEARTH_LOG_H_
#define HEARTH_LOG_H_

#include <cstdint>
#include <functional>
#include <string_view>

#include "hearth/export.h"

namespace hearth {

enum class LogLevel : uint8_t {
  kDebug,    // how a start went: phases with their times, what the cache had
  kInfo,     // which device a session took, and why
  kWarning,  // as in the session's report: something works, but not as well as it could
  kError,    // a broken promise inside Hearth, before the process aborts
};

// Called from whichever thread it happened on, one call at a time; must neither throw nor call Hearth.
using LogSink = std::function<void(LogLevel, std::string_view message)>;

// The sink of the whole process from now on; empty: standard error, as at the start. A sink that does nothing silences
// Hearth. After the return no call of the old sink is under way. Any thread.
HEARTH_EXPORT void SetLogSink(LogSink sink);

}  // namespace hearth

#endif  // HEARTH_LOG_H_
