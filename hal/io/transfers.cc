#include "hal/io/transfers.h"

#include <algorithm>

#include "hal/io/slices.h"

namespace hearth {

Status ToDevice(Device& device, const BoundRange& range, const HostTransfer& transfer, std::span<const std::byte> dense,
                TransferCounts& counts) {
  counts.to_device_bytes += range.size_bytes;
  return device.Write(*range.buffer, range.offset_bytes, range.size_bytes, [&](std::span<std::byte> memory) {
    DenseToSlices(transfer.desc, transfer.storage, dense, memory);
    return Status::Ok();
  });
}

Status FromDevice(Device& device, const BoundRange& range, const HostTransfer& transfer, std::span<std::byte> dense,
                  TransferCounts& counts) {
  counts.to_host_bytes += range.size_bytes;
  return device.Read(*range.buffer, range.offset_bytes, range.size_bytes, [&](std::span<const std::byte> memory) {
    SlicesToDense(transfer.desc, transfer.storage, memory, dense);
    return Status::Ok();
  });
}

Status BytesToDevice(Device& device, const BoundRange& range, const HostTransfer& /*transfer*/,
                     std::span<const std::byte> dense, TransferCounts& counts) {
  counts.to_device_bytes += range.size_bytes;
  return device.Write(*range.buffer, range.offset_bytes, range.size_bytes, [&](std::span<std::byte> memory) {
    std::ranges::copy(dense, memory.begin());
    return Status::Ok();
  });
}

Status BytesFromDevice(Device& device, const BoundRange& range, const HostTransfer& /*transfer*/,
                       std::span<std::byte> dense, TransferCounts& counts) {
  counts.to_host_bytes += range.size_bytes;
  return device.Read(*range.buffer, range.offset_bytes, range.size_bytes, [&](std::span<const std::byte> memory) {
    std::ranges::copy(memory.first(dense.size()), dense.begin());
    return Status::Ok();
  });
}

Status FrameToDevice(Device& device, const BoundRange& range, const FrameInput& frame, TransferCounts& counts) {
  counts.to_device_bytes += range.size_bytes;
  return device.Write(*range.buffer, range.offset_bytes, range.size_bytes, [&](std::span<std::byte> memory) {
    frame.Fill(memory);
    return Status::Ok();
  });
}

}  // namespace hearth
