// Copies dense host tensors to ranges of device memory and back, and counts the bytes.
#ifndef HEARTH_HAL_IO_TRANSFERS_H_
#define HEARTH_HAL_IO_TRANSFERS_H_

#include <cstdint>
#include <span>

#include "core/plan/plan.h"
#include "hal/device/device.h"
#include "hal/io/frame_input.h"

namespace hearth {

// Bytes copied between host and device.
struct TransferCounts {
  uint64_t to_device_bytes = 0, to_host_bytes = 0;
};

// `range` holds the tensor of `transfer` in slices; it may differ from transfer.range. Precondition: `dense` has the
// tensor's size.
Status ToDevice(Device& device, const BoundRange& range, const HostTransfer& transfer, std::span<const std::byte> dense,
                TransferCounts& counts);
Status FromDevice(Device& device, const BoundRange& range, const HostTransfer& transfer, std::span<std::byte> dense,
                  TransferCounts& counts);

// The same for a tensor that is copied as bytes (binding_layout.h): `range` holds its dense numbers.
Status BytesToDevice(Device& device, const BoundRange& range, const HostTransfer& transfer,
                     std::span<const std::byte> dense, TransferCounts& counts);
Status BytesFromDevice(Device& device, const BoundRange& range, const HostTransfer& transfer,
                       std::span<std::byte> dense, TransferCounts& counts);

// Copies a frame to where its kernel reads it.
Status FrameToDevice(Device& device, const BoundRange& range, const FrameInput& frame, TransferCounts& counts);

}  // namespace hearth

#endif  // HEARTH_HAL_IO_TRANSFERS_H_
