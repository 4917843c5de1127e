// How a frame (hearth/frame.h) becomes an input's tensor: the bytes of it that are read, their layout in device memory,
// the kernel that converts them, and the same on the host.
#ifndef HEARTH_HAL_IO_FRAME_LAYOUT_H_
#define HEARTH_HAL_IO_FRAME_LAYOUT_H_

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "core/graph/types.h"
#include "hal/io/binding_layout.h"
#include "hal/io/picture_shape.h"
#include "hearth/frame.h"

namespace hearth {

// ---- The pixels that bilinear resizing reads, in one place for all code that resizes ----

// Two neighbours and the weight of the second.
struct BilinearSample {
  int32_t low = 0, high = 0;
  float weight = 0;
  friend bool operator==(const BilinearSample&, const BilinearSample&) = default;
};

// Half-pixel centres, edges clamped, without antialiasing (TensorFlow's resize_bilinear with half_pixel_centers).
inline BilinearSample BilinearSampleAt(int32_t index, int32_t in_size, int32_t out_size) {
  const float position =
      (static_cast<float>(index) + 0.5f) * static_cast<float>(in_size) / static_cast<float>(out_size) - 0.5f;
  const float low = std::floor(position);
  const int32_t last = in_size - 1;
  return {std::clamp(static_cast<int32_t>(low), 0, last), std::clamp(static_cast<int32_t>(low) + 1, 0, last),
          position - low};
}

// ---- Frames ----

// Byte offsets in one plane: of its first element in its memory, from row to row, and from element to element (a pixel,
// or the plane's share of a block of 2x2 pixels).
struct PlaneLayout {
  uint64_t first_bytes = 0, pitch_bytes = 0, step_bytes = 0;
};

// The bytes that a frame's kernel reads: pixels or Y, then U, then V.
using PlaneLayouts = std::array<PlaneLayout, 3>;

// The coefficients of R, G and B from Y, U and V in 1/16384.
struct YuvCoefficients {
  float y_lowest = 0, y = 0, r_v = 0, g_u = 0, g_v = 0, b_u = 0;
};

// A frame that fits a tensor, with all defaults filled in.
struct FrameLayout {
  PixelFormat format = PixelFormat::kRgba8;
  int32_t width = 0, height = 0;
  PlaneLayouts planes;     // in the frame's own memory; V's may lie in U's memory
  bool is_turned = false;  // the tensor's columns are rows of the picture
  // For each column and row of the tensor: the columns and rows of the picture (turned: rows and columns) that it
  // reads.
  std::vector<BilinearSample> across, down;
  std::array<float, 4> mean{}, scale{};
  YuvCoefficients yuv;
  bool is_raw = false;  // integers, for an 8-bit input

  bool is_yuv() const { return format >= PixelFormat::kNv12; }
  int32_t block() const { return is_yuv() ? 2 : 1; }  // pixels of a row or column that share U and V
  uint64_t pixel_bytes() const { return is_yuv() ? 1 : format == PixelFormat::kRgb8 ? 3 : 4; }
};

// The columns and rows of a plane, and the bytes of one element.
struct PlaneSize {
  uint64_t columns = 0, rows = 0, element_bytes = 0;
  uint64_t row_bytes() const { return columns * element_bytes; }
};
std::vector<PlaneSize> PlaneSizes(const Frame& frame);

// Whether only a driver knows how the frame's texels lie in memory. Kernels get them tightly packed.
bool IsInTexels(const Frame& frame);

// kInvalidArgument for an invalid frame, or one that does not fit the tensor: the message says which number is wrong
// and what is right. kUnsupported for a tensor that takes no pictures.
Result<FrameLayout> LayoutOfFrame(const Frame& frame, const TensorDesc& desc);

// The memory of a frame on the device, for Device::ImportBuffer. `planes` are those of its layout; a VkImage becomes a
// buffer with its planes at these offsets.
NativeMemory MemoryOf(const Frame& frame, const PlaneLayouts& planes);

// The address of each plane (pixels or Y, U, V) of a frame in host memory.
std::array<const std::byte*, 3> HostPlanes(const Frame& frame);

// The part of a frame that crosses to the device: only the columns and rows that are read.
struct PackedFrame {
  std::vector<int32_t> columns, rows;        // blocks of the picture, ascending
  std::vector<BilinearSample> across, down;  // as in FrameLayout, but positions in the copy
};
PackedFrame PackFrame(const FrameLayout& layout);

// The layout of a copy with this many blocks, row after row, and its size.
struct PackedPlaces {
  PlaneLayouts planes;
  uint64_t size_bytes = 0;
};
PackedPlaces PlacesOf(const FrameLayout& layout, size_t columns, size_t rows);
// Copies a frame there. Precondition: `places` has room for this many columns and rows.
void CopyFrame(const FrameLayout& layout, std::span<const std::byte* const, 3> planes, const PackedFrame& packed,
               const PackedPlaces& places, std::span<std::byte> memory);

// The bytes of a frame that its tensor depends on, for when the frame itself is gone.
struct KeptFrame {
  FrameLayout layout;  // of `bytes`
  std::vector<std::byte> bytes;
};
// Copies them; memory that `kept` has is used again. `planes` as from HostPlanes.
void KeepFrame(const FrameLayout& layout, std::span<const std::byte* const, 3> planes, KeptFrame& kept);

// The kernel's table: a texel for each column, then for each row. Precondition: `table` has FrameTableBytes.
uint64_t FrameTableBytes(const TensorDesc& desc);
void FillFrameTable(std::span<const BilinearSample> across, std::span<const BilinearSample> down,
                    std::span<std::byte> table);

// The kernel with the tensors x (the bytes at `planes`), the table and the input.
Result<BindingKernel> FrameKernel(const FrameLayout& layout, const PlaneLayouts& planes, bool is_texture,
                                  const HostTransfer& transfer, const DeviceInfo& device);

// The kernel on the host, with the same bits: floats [height][width][channels] after mean and scale. `planes` as from
// HostPlanes.
void SampleFrame(const FrameLayout& layout, std::span<const std::byte* const, 3> planes, int32_t channels,
                 std::span<std::byte> floats);
// The dense tensor in the model's own type.
void ReadFrame(const FrameLayout& layout, std::span<const std::byte* const, 3> planes, const TensorDesc& desc,
               std::span<std::byte> dense);
void ReadFrame(const KeptFrame& frame, const TensorDesc& desc, std::span<std::byte> dense);

}  // namespace hearth

#endif  // HEARTH_HAL_IO_FRAME_LAYOUT_H_
