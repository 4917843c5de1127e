// Frames in AHardwareBuffers: memory of Android that cameras, decoders and GPUs share.
#ifndef HEARTH_HAL_IO_HARDWARE_BUFFER_H_
#define HEARTH_HAL_IO_HARDWARE_BUFFER_H_

#include "hal/io/external_frame.h"

struct AHardwareBuffer;

namespace hearth {

// Android's declarations, so that Hearth builds without its headers. Layouts are those of Android's NDK.
struct HardwareBufferDesc {
  uint32_t width, height, layers, format;
  uint64_t usage;
  uint32_t stride, reserved0;  // stride in pixels
  uint64_t reserved1;
};
struct HardwareBufferPlane {
  void* data;
  uint32_t pixel_stride, row_stride;  // in bytes
};
struct HardwareBufferPlanes {
  uint32_t count;
  HardwareBufferPlane planes[4];
};

// The functions AHardwareBuffer_*; null where the system lacks them.
struct HardwareBufferApi {
  void (*acquire)(AHardwareBuffer*) = nullptr;
  void (*release)(AHardwareBuffer*) = nullptr;
  void (*describe)(const AHardwareBuffer*, HardwareBufferDesc*) = nullptr;
  int (*lock)(AHardwareBuffer*, uint64_t usage, int32_t fence, const void* rectangle, void** address) = nullptr;
  int (*lock_planes)(AHardwareBuffer*, uint64_t usage, int32_t fence, const void* rectangle,
                     HardwareBufferPlanes*) = nullptr;  // since API level 29
  int (*unlock)(AHardwareBuffer*, int32_t* fence) = nullptr;
  bool is_complete() const { return acquire && release && describe && lock && unlock; }
};

// Found by name when first needed. For tests: assign to it before.
HardwareBufferApi& TheHardwareBufferApi();

// See OpenExternalFrame. A frame of 4:2:0 may be declared in any format of planes: the buffer decides.
Result<std::shared_ptr<ExternalFrame>> OpenHardwareBuffer(const Frame& frame);

}  // namespace hearth

#endif  // HEARTH_HAL_IO_HARDWARE_BUFFER_H_
