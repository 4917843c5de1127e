// The program's exit codes.
#ifndef HEARTH_TOOLS_HEARTH_EXIT_CODE_H_
#define HEARTH_TOOLS_HEARTH_EXIT_CODE_H_

#include "hearth/status.h"

namespace hearth {

enum class ExitCode : int {
  kFine = 0,
  kFailed = 1,    // the work failed, or a check found a problem
  kUsage = 2,     // wrong command line
  kBadInput = 3,  // missing or malformed model, image or array; wrong name or shape; an op that nothing can run
  kDeviceUnavailable = 4,  // the requested device is not usable
  kInterrupted = 130,      // stopped by ^C; finished parts are written
};

inline ExitCode ExitCodeOf(StatusCode code) {
  switch (code) {
    case StatusCode::kOk: return ExitCode::kFine;
    case StatusCode::kInvalidArgument:
    case StatusCode::kMalformedInput:
    case StatusCode::kNotFound:
    case StatusCode::kUnsupported: return ExitCode::kBadInput;
    case StatusCode::kUnavailable: return ExitCode::kDeviceUnavailable;
    case StatusCode::kResourceExhausted:
    case StatusCode::kDeviceLost:
    case StatusCode::kIoError:
    case StatusCode::kInternal: return ExitCode::kFailed;
  }
  return ExitCode::kFailed;
}

}  // namespace hearth

#endif  // HEARTH_TOOLS_HEARTH_EXIT_CODE_H_
