// Frames in dma-bufs: memory of Linux that cameras, decoders and GPUs share, as file descriptors.
#ifndef HEARTH_HAL_IO_DMA_BUF_H_
#define HEARTH_HAL_IO_DMA_BUF_H_

#include "core/base/descriptor.h"
#include "hal/io/external_frame.h"

namespace hearth {

// A duplicate of a dma-buf's descriptor for a driver, which owns it once it has taken it: then release it.
// kResourceExhausted if the process has no descriptor left.
Result<Descriptor> DescriptorForDriver(uint64_t descriptor);

// The four bytes by which DRM and EGL name the format.
uint32_t DrmFormatOf(PixelFormat format);

}  // namespace hearth

#endif  // HEARTH_HAL_IO_DMA_BUF_H_
