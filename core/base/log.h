// Sends messages of Hearth's own code to the sink of hearth/log.h.
#ifndef HEARTH_CORE_BASE_LOG_H_
#define HEARTH_CORE_BASE_LOG_H_

#include <string_view>

#include "hearth/log.h"

namespace hearth {

// Whether a message of this level is logged, for messages that are expensive to make.
bool IsLogged(LogLevel level);

// False if the message is not logged.
bool Log(LogLevel level, std::string_view message);

// Logs to standard error only if HEARTH_LOG is set. For a plugin, whose host has its own log.
void SilenceDefaultLog();

}  // namespace hearth

#endif  // HEARTH_CORE_BASE_LOG_H_
