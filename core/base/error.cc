#include "core/base/error.h"

#include <cstdio>
#include <cstdlib>

#include "core/base/log.h"

namespace hearth {

std::string_view StatusCodeName(StatusCode code) {
  switch (code) {
    case StatusCode::kOk: return "ok";
    case StatusCode::kInvalidArgument: return "invalid argument";
    case StatusCode::kMalformedInput: return "malformed input";
    case StatusCode::kNotFound: return "not found";
    case StatusCode::kUnsupported: return "unsupported";
    case StatusCode::kUnavailable: return "unavailable";
    case StatusCode::kResourceExhausted: return "resource exhausted";
    case StatusCode::kDeviceLost: return "device lost";
    case StatusCode::kIoError: return "input/output error";
    case StatusCode::kInternal: return "internal error";
  }
  return "unknown";
}

void CheckFailed(const char* file, int line, const char* text) {
  const std::string message =
      fmt::format("{}:{}: check failed: {} (a bug in Hearth, please report it)", file, line, text);
  if (!Log(LogLevel::kError, message)) std::fprintf(stderr, "%s\n", message.c_str());
  std::abort();
}

}  // namespace hearth
