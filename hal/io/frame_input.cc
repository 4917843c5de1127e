#include "hal/io/frame_input.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/base/numbers.h"

namespace hearth {

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
