#ifndef HEARTH_HAL_OPEN_EXTERNAL_FRAME_H_
#define HEARTH_HAL_OPEN_EXTERNAL_FRAME_H_

#include "hal/external_frame.h"

namespace hearth {

// Takes references of its own to the frame's memory. kInvalidArgument for handles that are no such memory, and for
// sizes that the memory does not have; kUnsupported where the system has no such memory.
Result<std::shared_ptr<ExternalFrame>> OpenExternalFrame(const Frame& frame);

}  // namespace hearth

#endif  // HEARTH_HAL_OPEN_EXTERNAL_FRAME_H_
