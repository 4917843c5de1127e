// An input that a frame in host memory fills: what of it crosses to the device, how it lies there and the kernel that
// reads it. The commands stay as they are while frames change in nothing but content, address, crop or size, as long as
// none needs more room than one before it.
#ifndef HEARTH_HAL_FRAME_INPUT_H_
#define HEARTH_HAL_FRAME_INPUT_H_

#include "hal/command_list.h"
#include "hal/frame_layout.h"

namespace hearth {

class FrameInput {
 public:
  // Another frame. True where memory or kernel are no longer what they were. Errors as LayoutOfFrame;
  // kResourceExhausted for one that the device has no binding for, and then the frame before it stays.
  Result<bool> Set(const Frame& frame, const HostTransfer& transfer, const DeviceInfo& device);

  uint64_t size_bytes() const { return table_bytes_ + places_.size_bytes; }
  const BindingKernel& kernel() const { return kernel_; }
  // The kernel's tensors but the last in memory of size_bytes().
  std::vector<BoundRange> RangesIn(Buffer& memory) const;
  // What such memory must hold before the kernel runs.
  void Fill(std::span<std::byte> memory) const;

 private:
  FrameLayout layout_;
  std::array<const std::byte*, 3> planes_{};
  PackedFrame packed_;
  size_t columns_ = 0, rows_ = 0;  // for which there is room
  uint64_t table_bytes_ = 0;       // up to where the picture may begin
  PackedPlaces places_;
  BindingKernel kernel_;
};

}  // namespace hearth

#endif  // HEARTH_HAL_FRAME_INPUT_H_
