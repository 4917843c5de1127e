// Makes and passes on errors in Hearth's own code: Error(), HEARTH_TRY and HEARTH_ASSIGN for failures outside Hearth,
// HEARTH_CHECK for bugs in Hearth.
#ifndef HEARTH_CORE_BASE_ERROR_H_
#define HEARTH_CORE_BASE_ERROR_H_

#include <fmt/format.h>

#include <exception>
#include <new>
#include <string>
#include <utility>

#include "hearth/status.h"

namespace hearth {

// Error(StatusCode::kNotFound, "no input named '{}'; the model has: {}", name, names)
template <typename... Args>
Status Error(StatusCode code, fmt::format_string<Args...> format, Args&&... args) {
  return Status(code, fmt::format(format, std::forward<Args>(args)...));
}

// Prints "file:line: check failed: text" and aborts.
[[noreturn]] void CheckFailed(const char* file, int line, const char* text);

inline constexpr const char* kMemoryRanOut =
    "memory ran out: let the process have more (ulimit -v, its container's limit), or take a smaller model or shape";

// The Status that `work` returns, or an exception of the standard library (no memory, no threads) as a Status: for a
// thread's end, and at the boundary to an interpreter without exceptions.
template <typename Work>
Status Guarded(const Work& work) noexcept {
  try {
    try {
      return work();
    } catch (const std::bad_alloc&) {
      return Status(StatusCode::kResourceExhausted, kMemoryRanOut);
    } catch (const std::exception& exception) {
      return Error(StatusCode::kResourceExhausted, "out of memory or threads: {}", exception.what());
    } catch (...) {
      return Error(StatusCode::kInternal, "a library threw what is not an exception");
    }
  } catch (...) {  // not even memory for the message
    return Status(StatusCode::kResourceExhausted, "");
  }
}

}  // namespace hearth

#define HEARTH_CONCAT_INNER(a, b) a##b
#define HEARTH_CONCAT(a, b) HEARTH_CONCAT_INNER(a, b)

// Returns from the enclosing function when `expression` (a Status) is an error.
#define HEARTH_TRY(expression)                                                           \
  do {                                                                                   \
    if (::hearth::Status try_status = (expression); !try_status.ok()) return try_status; \
  } while (false)

// HEARTH_ASSIGN(auto graph, ReadModel(path)); returns the error or assigns the value.
#define HEARTH_ASSIGN(declaration, expression) \
  HEARTH_ASSIGN_NAMED(HEARTH_CONCAT(result_at_line_, __LINE__), declaration, expression)
#define HEARTH_ASSIGN_NAMED(result, declaration, expression) \
  auto result = (expression);                                \
  if (!result.ok()) return result.status();                  \
  declaration = std::move(result).value()

// Checks an invariant of Hearth; a failure is a bug in Hearth, never a mistake of the caller.
#define HEARTH_CHECK(condition) \
  ((condition) ? static_cast<void>(0) : ::hearth::CheckFailed(__FILE__, __LINE__, #condition))

#endif  // HEARTH_CORE_BASE_ERROR_H_
