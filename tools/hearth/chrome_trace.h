// A start and a run as a picture over time, in the trace event format of Chrome
// (https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU).
#ifndef HEARTH_TOOLS_HEARTH_CHROME_TRACE_H_
#define HEARTH_TOOLS_HEARTH_CHROME_TRACE_H_

#include <string>
#include <vector>

#include "hearth/report.h"
#include "hearth/session.h"

namespace hearth {

// The report knows how long each phase took, not when it began: phases are drawn in the order in which a session goes
// through them, the two that run beside others (opening the device, weights) on a line of their own. After the
// first run follow the steps of `profile`, end to end.
std::string ChromeTrace(const Report& report, const std::vector<ProfileEntry>& profile);

}  // namespace hearth

#endif  // HEARTH_TOOLS_HEARTH_CHROME_TRACE_H_
