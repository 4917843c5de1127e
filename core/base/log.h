// How Hearth's own code gives a message to the sink of hearth/log.h.
#ifndef HEARTH_CORE_BASE_LOG_H_
#define HEARTH_CORE_BASE_LOG_H_

#include <string_view>

#include "hearth/log.h"

namespace hearth {

// Whether a message would reach anybody: for messages that cost something to make.
bool IsLogged(LogLevel level);

// False when it reaches nobody.
bool Log(LogLevel level, std::string_view message);

// Standard error gets only what HEARTH_LOG asks for: for a plugin, whose host has a log of its own.
void SilenceDefaultLog();

}  // namespace hearth

#endif  // HEARTH_CORE_BASE_LOG_H_
