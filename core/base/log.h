// How Hearth's own code gives a message to the sink of hearth/log.h.
#ifndef HEARTH_CORE_BASE_LOG_H_
#define HEARTH_CORE_BASE_LOG_H_

#include <string_view>

#include "hearth/log.h"

namespace hearth {

// Whether a message would reach anybody: for messages that cost something to make.
bool HasLogSink();

// False when there is no sink.
bool Log(LogLevel level, std::string_view message);

}  // namespace hearth

#endif  // HEARTH_CORE_BASE_LOG_H_
