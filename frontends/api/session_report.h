// What a session's report says.
#ifndef HEARTH_FRONTENDS_API_SESSION_REPORT_H_
#define HEARTH_FRONTENDS_API_SESSION_REPORT_H_

#include <string>

#include "frontends/api/session_data.h"

namespace hearth {

// Once the runner is made.
void FillReport(SessionData& data);

// What the cache has counted so far, and its warnings. Not for data beside a session's, whose cache is the session's.
void NoteCache(const SessionData& data);

// Phases of a start and what it had to make, for the log.
std::string StartText(const Report& report);

}  // namespace hearth

#endif  // HEARTH_FRONTENDS_API_SESSION_REPORT_H_
