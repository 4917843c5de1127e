// Runs C++ code in C functions: errors and exceptions become a status and the thread's last message.
#ifndef HEARTH_FRONTENDS_C_ANSWER_H_
#define HEARTH_FRONTENDS_C_ANSWER_H_

#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "hearth/hearth_c.h"
#include "hearth/status.h"

namespace hearth {

// The number of `code` in the C interface; keeps `message` for hearth_last_error. Allocates nothing.
hearth_status Fail(StatusCode code, const char* message) noexcept;

// Runs `work`, which returns a Status. Catches exceptions: the standard library throws when memory runs out.
template <typename Work>
hearth_status Answer(Work&& work) noexcept {
  try {
    const Status status = work();
    return status.ok() ? HEARTH_OK : Fail(status.code(), status.message().c_str());
  } catch (const std::bad_alloc&) {
    return Fail(StatusCode::kResourceExhausted, kMemoryRanOut);
  } catch (const std::length_error&) {
    return Fail(StatusCode::kResourceExhausted, "something would be larger than memory can be");
  } catch (const std::exception& error) {
    return Fail(StatusCode::kInternal, error.what());
  } catch (...) {
    return Fail(StatusCode::kInternal, "an unknown exception");
  }
}

// The same for a function that stores a new object, made by `work` as Result<unique_ptr<T>>, in `out`.
template <typename T, typename Work>
hearth_status AnswerWith(T** out, Work&& work) noexcept {
  if (out == nullptr) return Fail(StatusCode::kInvalidArgument, "the pointer for the result is null");
  *out = nullptr;
  return Answer([&]() -> Status {
    HEARTH_ASSIGN(std::unique_ptr<T> made, work());
    *out = made.release();
    return Status::Ok();
  });
}

// Copies the caller's shape. Reads at most a shape's largest rank: a wrong rank is an error, not a crash.
Result<std::vector<int32_t>> DimensionsOf(const int32_t* dimensions, size_t rank);

// A copy for hearth_free_text.
char* CopyText(const std::string& text);

// AnswerWith for a text, made by `work` as Result<std::string>. A null `out` is an error unless `may_be_null`.
template <typename Work>
hearth_status AnswerWithText(char** out, Work&& work, bool may_be_null = false) noexcept {
  if (out == nullptr && !may_be_null) return Fail(StatusCode::kInvalidArgument, "the pointer for the text is null");
  if (out != nullptr) *out = nullptr;
  return Answer([&]() -> Status {
    HEARTH_ASSIGN(const std::string text, work());
    if (out != nullptr) *out = CopyText(text);
    return Status::Ok();
  });
}

inline Status NullArgument(const char* name) {
  return Error(StatusCode::kInvalidArgument, "the argument '{}' is null", name);
}

// Answer for a function that works on `argument`, which it calls `name`: an error if that is null. `work` returns a
// Status or nothing.
template <typename Work>
hearth_status AnswerOn(const void* argument, const char* name, Work&& work) noexcept {
  return Answer([&]() -> Status {
    if (argument == nullptr) return NullArgument(name);
    if constexpr (std::is_void_v<decltype(work())>) {
      work();
      return Status::Ok();
    } else {
      return work();
    }
  });
}

}  // namespace hearth

// Returns the error when the argument is null.
#define HEARTH_NOT_NULL(argument) \
  if ((argument) == nullptr) return ::hearth::NullArgument(#argument)

#endif  // HEARTH_FRONTENDS_C_ANSWER_H_
