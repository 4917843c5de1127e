// An input that frames in host memory fill: the bytes that cross to the device, their layout there, and the kernel that
// reads them. The commands stay the same while only content, address, crop or size of the frames change and no frame
// needs more room than an earlier one.
#ifndef HEARTH_HAL_IO_FRAME_INPUT_H_
#define HEARTH_HAL_IO_FRAME_INPUT_H_

#include "hal/device/command_list.h"
#include "hal/io/frame_layout.h"

namespace hearth {

class FrameInput {
 public:
  // Sets the next frame. Returns true if memory or kernel have changed. Errors as LayoutOfFrame; kResourceExhausted for
  // a frame that is too large for one binding of the device, and then the frame before it stays.
  Result<bool> Set(const Frame& frame, const HostTransfer& transfer, const DeviceInfo& device);

  uint64_t size_bytes() const { return table_bytes_ + places_.size_bytes; }
  const BindingKernel& kernel() const { return kernel_; }
  // The kernel's tensors except the last, in a `memory` of size_bytes().
  std::vector<BoundRange> RangesIn(Buffer& memory) const;
  // Writes the content that such memory needs before the kernel runs.
  void Fill(std::span<std::byte> memory) const;

 private:
  FrameLayout layout_;
  std::array<const std::byte*, 3> planes_{};
  PackedFrame packed_;
  size_t columns_ = 0, rows_ = 0;  // that there is room for
  uint64_t table_bytes_ = 0;       // the offset at which the picture may begin
  PackedPlaces places_;
  BindingKernel kernel_;
};

}  // namespace hearth

#endif  // HEARTH_HAL_IO_FRAME_INPUT_H_
