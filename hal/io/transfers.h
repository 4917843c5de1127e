// Copies dense host tensors to ranges of device memory and back, and counts the bytes.
#ifndef HEARTH_HAL_IO_TRANSFERS_H_
#define HEARTH_HAL_IO_TRANSFERS_H_

#include <cstdint>
#include <span>

#include "core/plan/plan.h"
#include "hal/device/command_list.h"
#include "hal/device/device.h"
#include "hal/io/frame_layout.h"

namespace hearth {

// Bytes copied between host and device.
struct TransferCounts {
  uint64_t to_device_bytes = 0, to_host_bytes = 0;
};

// `range` holds the tensor of `transfer` in slices, or its numbers as the caller has them if it crosses dense
// (binding_layout.h); it may differ from transfer.range. Precondition: `dense` has the tensor's size.
Status ToDevice(Device& device, const BoundRange& range, const HostTransfer& transfer, std::span<const std::byte> dense,
                TransferCounts& counts, bool crosses_dense = false);
Status FromDevice(Device& device, const BoundRange& range, const HostTransfer& transfer, std::span<std::byte> dense,
                  TransferCounts& counts, bool crosses_dense = false);

// An input that frames in host memory fill: the bytes that cross to the device, their layout there, and the kernel that
// reads them. The commands stay the same while only content, address, crop or size of the frames change and no frame
// needs more room than an earlier one.
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

// Copies a frame to where its kernel reads it.
Status FrameToDevice(Device& device, const BoundRange& range, const FrameInput& frame, TransferCounts& counts);

}  // namespace hearth

#endif  // HEARTH_HAL_IO_TRANSFERS_H_
