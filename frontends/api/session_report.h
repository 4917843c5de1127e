// Fills a session's report.
#ifndef HEARTH_FRONTENDS_API_SESSION_REPORT_H_
#define HEARTH_FRONTENDS_API_SESSION_REPORT_H_

#include <string>

#include "frontends/api/session_data.h"

namespace hearth {

// Precondition: the runner is made.
void FillReport(SessionData& data);

// Copies the cache's counters and warnings into the report. Not for a second SessionData, which shares the session's
// cache.
void NoteCache(const SessionData& data);

// A start's phases and the work that it did, for the log.
std::string StartText(const Report& report);

}  // namespace hearth

#endif  // HEARTH_FRONTENDS_API_SESSION_REPORT_H_
