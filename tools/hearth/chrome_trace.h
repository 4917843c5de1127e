// A start and a run on a timeline, in Chrome's trace event format
// (https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU).
#ifndef HEARTH_TOOLS_HEARTH_CHROME_TRACE_H_
#define HEARTH_TOOLS_HEARTH_CHROME_TRACE_H_

#include <string>
#include <vector>

#include "hearth/report.h"
#include "hearth/session.h"

namespace hearth {

// The report has the duration of each phase, but not its beginning: phases are drawn in the order in which a session
// goes through them. The two that overlap others (opening the device, weights) have their own line. The steps of
// `profile` follow the first run, end to end.
std::string ChromeTrace(const Report& report, const std::vector<ProfileEntry>& profile);

}  // namespace hearth

#endif  // HEARTH_TOOLS_HEARTH_CHROME_TRACE_H_
