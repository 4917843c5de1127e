#include "frontends/c/answer.h"

#include <cstdlib>
#include <cstring>

#include "core/graph/types.h"
#include "hearth/log.h"
#include "hearth/version.h"

namespace hearth {
namespace {

// Fixed, so that storing a message can't fail. Longer messages end in "...".
constexpr size_t kMessageBytes = 4096;
thread_local char last_error[kMessageBytes] = "";

static_assert(static_cast<int>(StatusCode::kInvalidArgument) == HEARTH_INVALID_ARGUMENT);
static_assert(static_cast<int>(StatusCode::kMalformedInput) == HEARTH_MALFORMED_INPUT);
static_assert(static_cast<int>(StatusCode::kNotFound) == HEARTH_NOT_FOUND);
static_assert(static_cast<int>(StatusCode::kUnsupported) == HEARTH_UNSUPPORTED);
static_assert(static_cast<int>(StatusCode::kUnavailable) == HEARTH_UNAVAILABLE);
static_assert(static_cast<int>(StatusCode::kResourceExhausted) == HEARTH_RESOURCE_EXHAUSTED);
static_assert(static_cast<int>(StatusCode::kDeviceLost) == HEARTH_DEVICE_LOST);
static_assert(static_cast<int>(StatusCode::kIoError) == HEARTH_IO_ERROR);
static_assert(static_cast<int>(StatusCode::kInternal) == HEARTH_INTERNAL);

}  // namespace

hearth_status Fail(StatusCode code, const char* message) noexcept {
  size_t length = std::strlen(message);
  const char* end = "";
  if (length >= kMessageBytes) {
    end = "...";
    length = kMessageBytes - 4;
    // Cuts between characters: the second and later bytes of a UTF-8 character begin with the bits 10.
    while (length > 0 && (message[length] & 0xc0) == 0x80) --length;
  }
  std::memcpy(last_error, message, length);
  std::memcpy(last_error + length, end, std::strlen(end) + 1);
  return static_cast<hearth_status>(code);
}

Result<std::vector<int32_t>> DimensionsOf(const int32_t* dimensions, size_t rank) {
  if (rank > Shape::kMaxRank)
    return Error(StatusCode::kInvalidArgument, "a shape has at most {} dimensions, not {}", Shape::kMaxRank, rank);
  if (rank > 0) HEARTH_NOT_NULL(dimensions);
  return std::vector<int32_t>(dimensions, dimensions + rank);
}

char* CopyText(const std::string& text) {
  char* copy = static_cast<char*>(std::malloc(text.size() + 1));
  if (copy == nullptr) throw std::bad_alloc();
  std::memcpy(copy, text.c_str(), text.size() + 1);
  return copy;
}

}  // namespace hearth

uint32_t hearth_c_api_version(void) {
  return HEARTH_C_API_VERSION;
}

const char* hearth_version(void) {
  return HEARTH_VERSION;
}

const char* hearth_status_name(hearth_status status) {
  if (status < HEARTH_OK || status > HEARTH_INTERNAL) return "unknown";
  return hearth::StatusCodeName(static_cast<hearth::StatusCode>(status)).data();
}

const char* hearth_last_error(void) {
  return hearth::last_error;
}

void hearth_free_text(char* text) {
  std::free(text);
}

void hearth_set_log_sink(hearth_log_sink sink, void* user_data) {
  hearth::Answer([&] {
    hearth::LogSink wrapped;
    if (sink != nullptr) {
      wrapped = [sink, user_data](hearth::LogLevel level, std::string_view message) {
        sink(user_data, static_cast<int32_t>(level), std::string(message).c_str());
      };
    }
    hearth::SetLogSink(std::move(wrapped));
    return hearth::Status::Ok();
  });
}
