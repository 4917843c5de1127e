// How a frame (hearth/frame.h) becomes an input's tensor: what of it is read, where that lies in the device's memory,
// and the kernel that does it; and the same on the host.
#ifndef HEARTH_HAL_FRAME_LAYOUT_H_
#define HEARTH_HAL_FRAME_LAYOUT_H_

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "core/graph/types.h"
#include "hal/bilinear.h"
#include "hal/binding_layout.h"
#include "hearth/frame.h"

namespace hearth {

// Of one plane: bytes from the beginning of its memory, from row to row, and from element to element (a pixel, or what
// a block of 2x2 pixels has in the plane).
struct PlaneLayout {
  uint64_t first_bytes = 0, pitch_bytes = 0, step_bytes = 0;
};

// The bytes that a frame's kernel reads: pixels or Y, then U, then V.
using PlaneLayouts = std::array<PlaneLayout, 3>;

// R, G and B from Y, U and V in 1 / 16384.
struct YuvCoefficients {
  float y_lowest = 0, y = 0, r_v = 0, g_u = 0, g_v = 0, b_u = 0;
};

// A frame that fits a tensor, with all that it leaves open filled in.
struct FrameLayout {
  PixelFormat format = PixelFormat::kRgba8;
  int32_t width = 0, height = 0;
  PlaneLayouts planes;     // in the frame's own memory; V's may lie in U's memory
  bool is_turned = false;  // the tensor's columns are rows of the picture
  // By the tensor's column and row: which columns and rows (turned: rows and columns) of the picture.
  std::vector<BilinearSample> across, down;
  std::array<float, 4> mean{}, scale{};
  YuvCoefficients yuv;
  bool is_raw = false;  // whole numbers, of an input of 8 bits

  bool is_yuv() const { return format >= PixelFormat::kNv12; }
  int32_t block() const { return is_yuv() ? 2 : 1; }  // pixels of a row or column that share U and V
  uint64_t pixel_bytes() const { return is_yuv() ? 1 : format == PixelFormat::kRgb8 ? 3 : 4; }
};

// kInvalidArgument for a frame that is none, or that does not fit the tensor: the message says which number is wrong
// and what is right. kUnsupported for a tensor that takes no pictures.
Result<FrameLayout> LayoutOfFrame(const Frame& frame, const TensorDesc& desc);

// The memory of a frame on the device, for Device::ImportBuffer. `planes` are those of its layout; a VkImage becomes a
// buffer with its planes in these places.
NativeMemory MemoryOf(const Frame& frame, const PlaneLayouts& planes);

// The address of each plane's memory (pixels or Y, U, V), of a frame in host memory.
std::array<const std::byte*, 3> HostPlanes(const Frame& frame);

// What of a frame goes to the device: the columns and rows that are read, the others left out.
struct PackedFrame {
  std::vector<int32_t> columns, rows;        // blocks of the picture, ascending
  std::vector<BilinearSample> across, down;  // as FrameLayout has them, in places of the copy
};
PackedFrame PackFrame(const FrameLayout& layout);

// Where so many blocks lie in the copy, a row behind the other; `size_bytes`: all of it.
struct PackedPlaces {
  PlaneLayouts planes;
  uint64_t size_bytes = 0;
};
PackedPlaces PlacesOf(const FrameLayout& layout, size_t columns, size_t rows);
// Copies there. Precondition: the places are for as many columns and rows, or more.
void CopyFrame(const FrameLayout& layout, std::span<const std::byte* const, 3> planes, const PackedFrame& packed,
               const PackedPlaces& places, std::span<std::byte> memory);

// The kernel's table: a texel for each column, then for each row. Precondition: `table` has FrameTableBytes.
uint64_t FrameTableBytes(const TensorDesc& desc);
void FillFrameTable(std::span<const BilinearSample> across, std::span<const BilinearSample> down,
                    std::span<std::byte> table);

// Its tensors: the bytes at `planes`, the table, the input.
Result<BindingKernel> FrameKernel(const FrameLayout& layout, const PlaneLayouts& planes, bool is_texture,
                                  const HostTransfer& transfer, const DeviceInfo& device);

// The same on the host, to the same bits: floats [height][width][channels], mean and scale taken into account. `planes`
// as HostPlanes.
void SampleFrame(const FrameLayout& layout, std::span<const std::byte* const, 3> planes, int32_t channels,
                 std::span<std::byte> floats);
// The tensor, dense, of the model's own type.
void ReadFrame(const FrameLayout& layout, std::span<const std::byte* const, 3> planes, const TensorDesc& desc,
               std::span<std::byte> dense);

}  // namespace hearth

#endif  // HEARTH_HAL_FRAME_LAYOUT_H_
