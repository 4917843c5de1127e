// Which cases a run takes, and failures that the user expects of a driver.
#ifndef HEARTH_CONFORMANCE_SELECTION_H_
#define HEARTH_CONFORMANCE_SELECTION_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/conformance_case.h"
#include "conformance/device_cases.h"
#include "conformance/expectations.h"
#include "hearth/status.h"

namespace hearth::conformance {

// A pattern is an operation ("conv_2d"; "hal": all checks below the operations), a case ("conv_2d/1x1") or a glob over
// the names of cases ("conv_2d/*same*").
struct Selection {
  std::vector<std::string> filters;   // a case fits at least one; none: all cases do
  std::vector<std::string> excluded;  // and none of these
  int sample = 1;                     // of the cases of operations, about one in so many, chosen by `seed`
  uint64_t seed = 1;
  int shard = 1, shards = 1;  // families are dealt to so many runs, of which this is one

  // kNotFound: a pattern fits no case; the message names the one that may be meant.
  Status Check() const;
  // In the order of AllCases().
  std::vector<ConformanceCase> Cases() const;
  std::vector<DeviceCase> ChecksOfDevices() const;
};

// The name in DeviceResults: its group, a slash and its own name.
std::string IdOf(const DeviceCase& test);

// "2/8" as {2, 8}. kInvalidArgument.
Status ParseShard(const std::string& text, Selection& selection);

// The lines of a text without blanks around them, empty lines and what follows a '#' that begins a word.
std::vector<std::string> ListedLines(std::string_view text);

// Expected failures from lines "conv_2d/1x1: reason" or "conv_2d/* [texel fp16]: reason", as FAILED lines have them
// after the device; the part in brackets may be left out. The texts are parts of `lines`, which must outlive the
// result. kMalformedInput: a line lacks its reason, or fits no case.
Result<std::vector<Expectation>> ParseExpectations(const std::vector<std::string>& lines);

}  // namespace hearth::conformance

#endif  // HEARTH_CONFORMANCE_SELECTION_H_
