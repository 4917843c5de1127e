// A session's report.
#ifndef HEARTH_FRONTENDS_API_SESSION_REPORT_H_
#define HEARTH_FRONTENDS_API_SESSION_REPORT_H_

namespace hearth {

struct SessionData;

// After a start: its times, model and warnings, which it also logs.
void NoteStart(SessionData& data);

// Copies the cache's counters and warnings into the report.
void NoteCache(SessionData& data);

}  // namespace hearth

#endif  // HEARTH_FRONTENDS_API_SESSION_REPORT_H_
