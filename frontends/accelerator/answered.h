// The answer of a function that LiteRT calls.
#ifndef HEARTH_FRONTENDS_ACCELERATOR_ANSWERED_H_
#define HEARTH_FRONTENDS_ACCELERATOR_ANSWERED_H_

#include "core/base/error.h"
#include "frontends/accelerator/litert_runtime.h"

namespace hearth {

inline litert_c::LiteRtStatus LiteRtStatusOf(StatusCode code) {
  switch (code) {
    case StatusCode::kOk: return litert_c::kLiteRtStatusOk;
    case StatusCode::kInvalidArgument: return litert_c::kLiteRtStatusErrorInvalidArgument;
    case StatusCode::kUnsupported: return litert_c::kLiteRtStatusErrorUnsupported;
    case StatusCode::kResourceExhausted: return litert_c::kLiteRtStatusErrorMemoryAllocationFailure;
    default: return litert_c::kLiteRtStatusErrorRuntimeFailure;
  }
}

// Runs `work`; what goes wrong goes to LiteRT's log.
template <typename Work>
litert_c::LiteRtStatus Answered(const Work& work) {
  const Status status = Guarded(work);
  if (!status.ok()) LogToLiteRt(status.message());
  return LiteRtStatusOf(status.code());
}

}  // namespace hearth

#endif  // HEARTH_FRONTENDS_ACCELERATOR_ANSWERED_H_
