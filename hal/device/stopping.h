// The error of preparation work that was asked to stop.
#ifndef HEARTH_HAL_DEVICE_STOPPING_H_
#define HEARTH_HAL_DEVICE_STOPPING_H_

#include "hearth/status.h"

namespace hearth {

inline Status Stopped() {
  return Status(StatusCode::kUnavailable, "stopped before it was ready");
}

}  // namespace hearth

#endif  // HEARTH_HAL_DEVICE_STOPPING_H_
