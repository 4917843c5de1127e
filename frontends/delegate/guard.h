// The boundary to the interpreter: no exception crosses it.
#ifndef HEARTH_FRONTENDS_DELEGATE_GUARD_H_
#define HEARTH_FRONTENDS_DELEGATE_GUARD_H_

#include <exception>

#include "core/base/error.h"

namespace hearth {

// What `work` (returning Status) answers; what it throws (the standard library without memory or threads) as a Status.
template <typename Work>
Status Guarded(const Work& work) noexcept {
  try {
    try {
      return work();
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

#endif  // HEARTH_FRONTENDS_DELEGATE_GUARD_H_
