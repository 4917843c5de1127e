#include "hal/io/transfers.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/base/numbers.h"
#include "hal/io/slices.h"

namespace hearth {

Status ToDevice(Device& device, const BoundRange& range, const HostTransfer& transfer, std::span<const std::byte> dense,
                TransferCounts& counts, bool crosses_dense) {
  counts.to_device_bytes += range.size_bytes;
  return device.Write(*range.buffer, range.offset_bytes, range.size_bytes, [&](std::span<std::byte> memory) {
    if (crosses_dense) {
      std::ranges::copy(dense, memory.begin());
    } else {
      DenseToSlices(transfer.desc, transfer.storage, dense, memory);
    }
    return Status::Ok();
  });
}

Status FromDevice(Device& device, const BoundRange& range, const HostTransfer& transfer, std::span<std::byte> dense,
                  TransferCounts& counts, bool crosses_dense) {
  counts.to_host_bytes += range.size_bytes;
  return device.Read(*range.buffer, range.offset_bytes, range.size_bytes, [&](std::span<const std::byte> memory) {
    if (crosses_dense) {
      std::ranges::copy(memory.first(dense.size()), dense.begin());
    } else {
      SlicesToDense(transfer.desc, transfer.storage, memory, dense);
    }
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

Result<bool> FrameInput::Set(const Frame& frame, const HostTransfer& transfer, const DeviceInfo& device) {
  HEARTH_ASSIGN(FrameLayout layout, LayoutOfFrame(frame, transfer.desc));
  PackedFrame packed = PackFrame(layout);
  const size_t columns = std::max(columns_, packed.columns.size()), rows = std::max(rows_, packed.rows.size());
  const PackedPlaces places = PlacesOf(layout, columns, rows);
  const uint64_t most_bytes = std::min<uint64_t>(device.max_binding_bytes, INT32_MAX);
  if (places.size_bytes > most_bytes) {
    return Error(StatusCode::kResourceExhausted, "the frame takes {} bytes; a kernel of {} can read at most {}",
                 places.size_bytes, device.name, most_bytes);
  }
  HEARTH_ASSIGN(BindingKernel kernel, FrameKernel(layout, places.planes, false, transfer, device));
  const bool is_new = kernel != kernel_ || places.size_bytes != places_.size_bytes;
  layout_ = std::move(layout);
  planes_ = HostPlanes(frame);
  packed_ = std::move(packed);
  columns_ = columns;
  rows_ = rows;
  table_bytes_ = RoundUp(FrameTableBytes(transfer.desc), device.buffer_offset_alignment);
  places_ = places;
  kernel_ = std::move(kernel);
  return is_new;
}

std::vector<BoundRange> FrameInput::RangesIn(Buffer& memory) const {
  const uint64_t samples = packed_.across.size() + packed_.down.size();
  return {{&memory, table_bytes_, places_.size_bytes}, {&memory, 0, samples * TexelBytes(StorageType::kFloat32)}};
}

void FrameInput::Fill(std::span<std::byte> memory) const {
  FillFrameTable(packed_.across, packed_.down, memory);
  CopyFrame(layout_, planes_, packed_, places_, memory.subspan(table_bytes_));
}

}  // namespace hearth
