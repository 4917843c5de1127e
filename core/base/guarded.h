// Turns exceptions of the standard library (no memory, no threads) into errors: at a thread's end, and at the boundary
// to an interpreter without exceptions.
#ifndef HEARTH_CORE_BASE_GUARDED_H_
#define HEARTH_CORE_BASE_GUARDED_H_

#include <exception>
#include <new>

#include "core/base/error.h"

namespace hearth {

inline constexpr const char* kMemoryRanOut =
    "memory ran out: let the process have more (ulimit -v, its container's limit), or take a smaller model or shape";

// The Status that `work` returns, or its exception as a Status.
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

#endif  // HEARTH_CORE_BASE_GUARDED_H_
