// The kernel that makes an input's tensor from a frame.
#include <bit>

#include "core/base/error.h"
#include "core/device/device_rules.h"
#include "core/device/group_size.h"
#include "core/device/options.h"
#include "core/emit/kernel_library.h"
#include "core/graph/quantize.h"
#include "hal/device/command_list.h"
#include "hal/io/frame_layout.h"

namespace hearth {
namespace {

// The values of the kernel's GRID.
enum class GridKind : uint8_t { kNone, kRounded, kRaw, kRawInteger };

GridKind GridKindOf(const FrameLayout& layout, const HostTransfer& transfer) {
  if (transfer.storage == StorageType::kInt32) return GridKind::kRawInteger;
  if (layout.is_raw) return GridKind::kRaw;
  return IsQuantized(transfer.desc) ? GridKind::kRounded : GridKind::kNone;
}

// The scalars in the order in which the kernel declares them.
std::vector<float> FloatScalars(const FrameLayout& layout, GridKind kind, const TensorDesc& desc) {
  std::vector<float> scalars(layout.mean.begin(), layout.mean.end());
  scalars.insert(scalars.end(), layout.scale.begin(), layout.scale.end());
  const YuvCoefficients& yuv = layout.yuv;
  for (float value : {yuv.y_lowest, yuv.y, yuv.r_v, yuv.g_u, yuv.g_v, yuv.b_u}) scalars.push_back(value);
  const TensorGrid grid = GridOf(desc);
  // The value itself counts from the type's lowest number.
  const float offset = desc.dtype == DType::kInt8 ? 128.0f : 0.0f;
  const float zero = kind == GridKind::kRaw ? static_cast<float>(grid.zero_point) + offset : offset;
  for (float value : {grid.scale, grid.inverse, grid.lowest, grid.highest, zero}) scalars.push_back(value);
  return scalars;
}

}  // namespace

Result<BindingKernel> FrameKernel(const FrameLayout& layout, const PlaneLayouts& planes, bool is_texture,
                                  const HostTransfer& transfer, const DeviceInfo& device) {
  BindingKernel kernel;
  HEARTH_ASSIGN(kernel.source, LoadKernel("read_frame"));
  const GridKind kind = GridKindOf(layout, transfer);
  HEARTH_TRY(SetDefine(kernel.source, "PIXELS", layout.is_yuv() ? "0" : std::to_string(layout.pixel_bytes())));
  HEARTH_TRY(SetDefine(kernel.source, "GRID", std::to_string(static_cast<int>(kind))));
  kernel.source.local_size = PictureGroup(device);
  TensorArg& picture = kernel.source.tensors[0];
  picture.storage = StorageType::kUnorm8;
  if (is_texture) picture.path = AccessPath::kTexture;
  TensorArg& table = kernel.source.tensors[1];
  if (FrameTableBytes(transfer.desc) / TexelBytes(table.storage) <= device.max_texel_elements)
    table.path = DefaultReadPath(device);
  kernel.source.tensors[2].storage = transfer.storage;

  const PictureShape shape = *PictureShapeOf(transfer.desc.shape.dims());
  HEARTH_TRY(SetDefine(kernel.source, "COLUMNS", shape.is_planar ? "4" : "1"));
  // A pixel of four bytes is one element.
  const uint64_t unit_bytes = layout.pixel_bytes() == 4 ? 4 : 1;
  const bool is_swapped = layout.format == PixelFormat::kBgra8;
  for (const uint64_t value :
       {static_cast<uint64_t>(shape.height), static_cast<uint64_t>(shape.width), static_cast<uint64_t>(shape.channels),
        planes[0].first_bytes / unit_bytes, planes[0].pitch_bytes / unit_bytes, planes[1].first_bytes,
        planes[2].first_bytes, planes[1].pitch_bytes, planes[2].pitch_bytes, planes[1].step_bytes,
        uint64_t{layout.is_turned}, uint64_t{is_swapped}})
    kernel.scalars.push_back(static_cast<uint32_t>(value));
  for (float value : FloatScalars(layout, kind, transfer.desc))
    kernel.scalars.push_back(std::bit_cast<uint32_t>(value));
  const auto& local = kernel.source.local_size;
  const int32_t columns = shape.is_planar ? (shape.width + 3) / 4 : shape.width;  // of texels
  kernel.group_count = {GroupsFor(static_cast<uint64_t>(columns), local[0]),
                        GroupsFor(static_cast<uint64_t>(shape.height), local[1]), 1};
  return kernel;
}

}  // namespace hearth
