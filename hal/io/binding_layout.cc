#include "hal/io/binding_layout.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "core/base/error.h"
#include "core/base/numbers.h"
#include "core/device/device_rules.h"
#include "core/device/group_size.h"
#include "core/device/options.h"
#include "core/emit/kernel_library.h"
#include "core/emit/kernel_limits.h"
#include "core/graph/quantize.h"
#include "hal/device/command_list.h"

namespace hearth {
namespace {

StorageType PixelStorage(ElementFormat format) {
  switch (format) {
    case ElementFormat::kRgba8: return StorageType::kUnorm8;
    case ElementFormat::kRgba16f: return StorageType::kFloat16;
    default: return StorageType::kFloat32;
  }
}

// The bytes from the start of the first row to the end of the last.
Status CheckExtent(const Binding& binding, const BindingLayout& layout, const Bhwc& shape) {
  const uint64_t element_bytes = TexelBytes(layout.element);
  const uint64_t row_bytes = static_cast<uint64_t>(shape.w) * layout.stride * element_bytes;
  const uint64_t pitch_bytes = layout.pitch * element_bytes;
  const uint64_t rows = static_cast<uint64_t>(shape.b) * static_cast<uint64_t>(shape.h);
  if (binding.offset_bytes % element_bytes != 0 || binding.row_pitch_bytes % element_bytes != 0) {
    return Error(StatusCode::kInvalidArgument, "the offset ({}) and the row pitch ({}) must be multiples of {} bytes",
                 binding.offset_bytes, binding.row_pitch_bytes, element_bytes);
  }
  if (pitch_bytes < row_bytes) {
    return Error(StatusCode::kInvalidArgument, "a row of the tensor takes {} bytes, but the row pitch is {}", row_bytes,
                 pitch_bytes);
  }
  // No sum can overflow: lent memory has an address, and pitch times rows is compared by division.
  const uint64_t room = binding.size_bytes > binding.offset_bytes ? binding.size_bytes - binding.offset_bytes : 0;
  if (room < row_bytes || (rows > 1 && (room - row_bytes) / (rows - 1) < pitch_bytes)) {
    return Error(StatusCode::kInvalidArgument,
                 "{} rows of {} bytes, {} bytes apart, don't fit into {} bytes from byte {} on", rows, row_bytes,
                 pitch_bytes, binding.size_bytes, binding.offset_bytes);
  }
  if (binding.size_bytes / element_bytes > static_cast<uint64_t>(std::numeric_limits<int32_t>::max())) {
    return Error(StatusCode::kInvalidArgument, "the lent memory has {} bytes, more than kernels can count",
                 binding.size_bytes);
  }
  return Status::Ok();
}

void SetPath(TensorArg& arg, uint64_t size_bytes, const DeviceInfo& device) {
  const bool fits =
      arg.storage != StorageType::kInt32 && size_bytes / TexelBytes(arg.storage) <= device.max_texel_elements;
  if (fits) arg.path = DefaultReadPath(device);
}

// A group for each work item of a row: within the 65,535 groups in a dimension that every device takes.
constexpr uint64_t kRow = 1u << 15;

// Smaller float tensors are moved by the host in less time than a dispatch takes.
constexpr uint64_t kLeastFloatBytes = 64 << 10;

// The work items of a kernel.
struct WorkGrid {
  std::array<uint32_t, 3> local_size = {1, 1, 1}, group_count = {1, 1, 1};
  bool is_flat = false;  // the kernels' FLAT
};

WorkGrid GridOfItems(std::array<uint32_t, 3> local, const std::array<uint64_t, 3>& items) {
  WorkGrid grid{.local_size = local};
  for (int d = 0; d < 3; ++d) grid.group_count[d] = GroupsFor(items[d], local[d]);
  return grid;
}

bool Fits(const WorkGrid& grid, const DeviceInfo& device) {
  for (int d = 0; d < 3; ++d) {
    if (grid.group_count[d] > device.max_group_count[d]) return false;
  }
  return true;
}

// An item for each texel: a column, a row and a slice. One dimension may be too long for that where the tensor as a
// whole is not: its texels then lie along rows of kRow, the kernels' 32768.
WorkGrid GridOfTexels(const Bhwc& shape, const DeviceInfo& device) {
  const auto columns = static_cast<uint64_t>(shape.w), slices = static_cast<uint64_t>(shape.slices());
  const uint64_t rows = static_cast<uint64_t>(shape.b) * static_cast<uint64_t>(shape.h);
  WorkGrid grid = GridOfItems(PictureGroup(device), {columns, rows, slices});
  if (Fits(grid, device)) return grid;
  const uint64_t texels = columns * rows * slices;
  grid = GridOfItems(FittingGroup({64, 1, 1}, device), {std::min(texels, kRow), GroupsFor(texels, kRow), 1});
  grid.is_flat = true;
  return grid;
}

// An item for each element of BytesLayout.
WorkGrid GridOfElements(const BindingLayout& bytes, const DeviceInfo& device) {
  return GridOfItems(PictureGroup(device),
                     {bytes.pitch, GroupsFor(bytes.stride, static_cast<uint32_t>(bytes.pitch)), 1});
}

// Between slices and the elements of `layout`.
Result<BindingKernel> BindingKernelOf(Side side, const BindingLayout& layout, const WorkGrid& grid,
                                      const HostTransfer& transfer, const DeviceInfo& device) {
  const bool is_write = side == Side::kOutput;
  BindingKernel kernel;
  HEARTH_ASSIGN(kernel.source, LoadKernel(is_write ? "write_binding" : "read_binding"));
  HEARTH_TRY(SetDefine(kernel.source, "PIXELS", layout.is_pixel ? "1" : "0"));
  HEARTH_TRY(SetDefine(kernel.source, "FLAT", grid.is_flat ? "1" : "0"));
  kernel.source.local_size = grid.local_size;
  kernel.group_count = grid.group_count;
  TensorArg& slices = kernel.source.tensors[is_write ? 0 : 1];
  slices.storage = transfer.storage;
  if (is_write) SetPath(slices, transfer.range.size_bytes, device);
  kernel.source.tensors[is_write ? 1 : 0].storage = layout.element;
  const Bhwc shape = ToBhwc(transfer.desc.shape);
  const auto number = [](uint64_t value) { return static_cast<uint32_t>(value); };
  kernel.scalars = {number(shape.b),      number(shape.h),        number(shape.w),
                    number(shape.c),      number(shape.slices()), number(layout.first),
                    number(layout.pitch), number(layout.stride),  layout.flip_vertically ? 1u : 0u};
  for (const auto* four : {&layout.scale, &layout.offset}) {
    for (float value : *four) kernel.scalars.push_back(std::bit_cast<uint32_t>(value));
  }
  return kernel;
}

// The layout for the kernels of bytes: an element has four numbers, `stride` is the number of elements, and `pitch` is
// the elements in a row of the grid.
BindingLayout BytesLayout(const HostTransfer& transfer) {
  const TensorGrid grid = GridOf(transfer.desc);
  BindingLayout layout;
  layout.element = StorageType::kUnorm8;
  layout.stride = CrossingBytes(transfer) / TexelBytes(StorageType::kUnorm8);
  layout.pitch = std::clamp<uint64_t>(layout.stride, 1, kRow);
  layout.flip_vertically = transfer.desc.dtype == DType::kInt8;  // the kernels' FLIP
  layout.scale = {grid.scale, grid.inverse, 0, 0};
  layout.offset = {static_cast<float>(grid.zero_point), grid.lowest, grid.highest, 0};
  return layout;
}

bool IsFloat(const HostTransfer& transfer) {
  return transfer.desc.dtype == DType::kFloat32;
}

// Of numbers that cross dense: float32 is moved as it is.
BindingLayout DenseLayout(const HostTransfer& transfer) {
  if (!IsFloat(transfer)) return BytesLayout(transfer);
  const Bhwc shape = ToBhwc(transfer.desc.shape);
  BindingLayout layout;
  layout.stride = static_cast<uint64_t>(shape.c);
  layout.pitch = static_cast<uint64_t>(shape.w) * layout.stride;
  return layout;
}

}  // namespace

Result<BindingLayout> LayoutOf(const Binding& binding, const TensorDesc& desc) {
  if (!IsReal(desc) || desc.dtype == DType::kFloat64) {
    return Error(StatusCode::kUnsupported,
                 "a tensor of {} can't use lent memory; only real numbers of device types can", DTypeName(desc.dtype));
  }
  if (IsExternal(binding.memory))
    return Error(StatusCode::kUnsupported, "a dma-buf or an AHardwareBuffer is lent as a frame: call BindFrame");
  const Bhwc shape = ToBhwc(desc.shape);
  const bool has_texels = HasTexels(binding.memory);
  BindingLayout layout;
  layout.is_pixel = has_texels || binding.format != ElementFormat::kFloat32;
  if (layout.is_pixel && shape.c > 4) {
    return Error(StatusCode::kInvalidArgument,
                 "a pixel of this format has 4 components, but the tensor has {} channels", shape.c);
  }
  layout.element = layout.is_pixel ? PixelStorage(binding.format) : StorageType::kScalar;
  layout.stride = layout.is_pixel ? 1 : static_cast<uint64_t>(shape.c);
  const uint64_t element_bytes = TexelBytes(layout.element);
  layout.first = binding.offset_bytes / element_bytes;
  layout.pitch = binding.row_pitch_bytes != 0 ? binding.row_pitch_bytes / element_bytes
                                              : static_cast<uint64_t>(shape.w) * layout.stride;
  layout.flip_vertically = binding.flip_vertically;
  layout.scale = binding.scale;
  layout.offset = binding.offset;
  if (shape.c > 4) {
    layout.scale.fill(binding.scale[0]);
    layout.offset.fill(binding.offset[0]);
  }
  if (!AllFinite(binding.scale) || !AllFinite(binding.offset))
    return Error(StatusCode::kInvalidArgument, "the binding's scale or offset is not a finite number");
  if (has_texels && (binding.offset_bytes != 0 || binding.row_pitch_bytes != 0))
    return Error(StatusCode::kInvalidArgument, "a texture or image has no offset and no row pitch");
  if (!has_texels) HEARTH_TRY(CheckExtent(binding, layout, shape));
  return layout;
}

NativeMemory MemoryOf(const Binding& binding, const TensorDesc& desc, bool is_written) {
  const Bhwc shape = ToBhwc(desc.shape);
  NativeMemory memory{binding.memory, binding.handle, binding.size_bytes};
  const auto columns = static_cast<uint32_t>(shape.w),
             rows = static_cast<uint32_t>(shape.b) * static_cast<uint32_t>(shape.h);
  if (binding.memory == MemoryKind::kGlTexture) {
    memory.width = columns;
    memory.height = rows;
    memory.texel = PixelStorage(binding.format);
  }
  if (binding.memory == MemoryKind::kVulkanImage) {
    memory.planes = {{0, columns, rows}};
    memory.size_bytes = static_cast<uint64_t>(shape.pixels()) * TexelBytes(PixelStorage(binding.format));
    memory.image_layout = binding.image_layout;
  }
  memory.is_written = is_written;
  return memory;
}

Result<BindingKernel> BorrowedKernel(Side side, const BindingLayout& layout, bool is_texture,
                                     const HostTransfer& transfer, const DeviceInfo& device) {
  const WorkGrid grid = GridOfTexels(ToBhwc(transfer.desc.shape), device);
  HEARTH_ASSIGN(BindingKernel kernel, BindingKernelOf(side, layout, grid, transfer, device));
  // What the bind tells; later the error would be that of a run.
  const auto& groups = kernel.group_count;
  HEARTH_TRY(CheckGroupLimits(kernel.source, {groups[0], groups[1], groups[2]}, device));
  if (is_texture) kernel.source.tensors[side == Side::kOutput ? 1 : 0].path = AccessPath::kTexture;
  return kernel;
}

bool CrossesDense(const HostTransfer& transfer, const DeviceInfo& device) {
  const DType dtype = transfer.desc.dtype;
  const bool is_byte = dtype == DType::kInt8 || dtype == DType::kUInt8;
  const bool is_large_float = IsFloat(transfer) && transfer.desc.size_bytes() >= kLeastFloatBytes;
  return !device.unified_memory && transfer.storage != StorageType::kInt32 && (is_byte || is_large_float) &&
         transfer.desc.size_bytes() < static_cast<uint64_t>(std::numeric_limits<int32_t>::max()) &&
         Fits(GridOfTexels(ToBhwc(transfer.desc.shape), device), device) &&
         (!is_byte || Fits(GridOfElements(BytesLayout(transfer), device), device));
}

uint64_t CrossingBytes(const HostTransfer& transfer) {
  return RoundUp(transfer.desc.size_bytes(), TexelBytes(StorageType::kUnorm8));
}

Result<BindingKernel> DenseKernel(Side side, const HostTransfer& transfer, const DeviceInfo& device) {
  const BindingLayout layout = DenseLayout(transfer);
  const WorkGrid grid = side == Side::kOutput && !IsFloat(transfer) ? GridOfElements(layout, device)
                                                                    : GridOfTexels(ToBhwc(transfer.desc.shape), device);
  HEARTH_ASSIGN(BindingKernel kernel, BindingKernelOf(side, layout, grid, transfer, device));
  HEARTH_TRY(SetDefine(kernel.source, "PIXELS", IsFloat(transfer) ? "3" : "2"));
  return kernel;
}

Result<BindingKernel> CopyKernel(const HostTransfer& transfer, const DeviceInfo& device) {
  BindingKernel kernel;
  HEARTH_ASSIGN(kernel.source, LoadKernel("map"));
  for (TensorArg& arg : kernel.source.tensors) arg.storage = transfer.storage;
  SetPath(kernel.source.tensors[0], transfer.range.size_bytes, device);
  kernel.source.local_size = FittingGroup(kernel.source.local_size, device);
  const uint64_t texels = transfer.range.size_bytes / TexelBytes(transfer.storage);
  const uint64_t row = kRow * kernel.source.local_size[0];
  kernel.scalars = {static_cast<uint32_t>(texels), static_cast<uint32_t>(row)};
  kernel.group_count = {GroupsFor(std::min(texels, row), kernel.source.local_size[0]), GroupsFor(texels, row), 1};
  return kernel;
}

}  // namespace hearth
