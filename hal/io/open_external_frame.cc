#include "core/base/error.h"
#include "hal/io/dma_buf.h"
#include "hal/io/external_frame.h"
#include "hal/io/hardware_buffer.h"

namespace hearth {

Result<std::shared_ptr<ExternalFrame>> OpenExternalFrame(const Frame& frame) {
  if (frame.format > PixelFormat::kI420)
    return Error(StatusCode::kInvalidArgument, "the frame's format is not one that hearth/frame.h lists");
  if (frame.planes[0].handle == 0) return Error(StatusCode::kInvalidArgument, "the frame's first plane has no memory");
  return frame.memory == MemoryKind::kDmaBuf ? OpenDmaBuf(frame) : OpenHardwareBuffer(frame);
}

}  // namespace hearth
