// A camera's or decoder's picture as a model's input. The device converts it to RGB, crops, rotates, resizes and scales
// it, in the run's own submission.
//
//   session->BindFrame("image", {.format = PixelFormat::kNv12, .width = 1280, .height = 720,
//                                .planes = {{{.handle = address_of_y, .size_bytes = y_bytes},
//                                            {.handle = address_of_uv, .size_bytes = uv_bytes}}},
//                                .rotation = 90, .mean = {127.5f, 127.5f, 127.5f}, .scale = {1 / 127.5f, ...}});
#ifndef HEARTH_FRAME_H_
#define HEARTH_FRAME_H_

#include <array>
#include <cstdint>

#include "hearth/interop.h"

namespace hearth {

// Names give the order of bytes in memory. An X of a DRM format is read as alpha.
enum class PixelFormat : uint8_t {
  kRgba8,  // DRM_FORMAT_ABGR8888 or XBGR8888
  kBgra8,  // DRM_FORMAT_ARGB8888 or XRGB8888
  kRgb8,   // DRM_FORMAT_BGR888
  kNv12,   // DRM_FORMAT_NV12: a plane of Y, and one of pairs of U and V, each for 2x2 pixels
  kNv21,   // DRM_FORMAT_NV21: the same with pairs of V and U
  kI420,   // DRM_FORMAT_YUV420: three planes: Y, U and V
};

// The standard that defines Y, U and V.
enum class YuvMatrix : uint8_t { kBt601, kBt709 };

struct FramePlane {
  uint64_t handle = 0;      // as in Binding; 0 for the second and third plane: in the first one's memory
  uint64_t size_bytes = 0;  // of the whole memory
  // Of the first byte. 0 for a plane without a handle: directly after the previous plane, which then must lie in the
  // first one's memory too (kInvalidArgument).
  uint64_t offset_bytes = 0;
  uint64_t row_pitch_bytes = 0;  // from one row to the next; 0: tightly packed
};

struct PixelRectangle {
  int32_t x = 0, y = 0, width = 0, height = 0;
};

// A frame is converted in this order: pixels become RGB; the crop rectangle is cut out, rotated clockwise, mirrored,
// and resized to the tensor's height and width as `hearth run` resizes pictures (bilinear at half-pixel centres, edges
// clamped, no antialiasing); then tensor = (value - mean) * scale by channel, with values from 0 to 255. The tensor has
// 1 channel (grey: (77 R + 150 G + 29 B) / 256, rounded down), 3 (RGB) or 4 (RGB and alpha, 255 if the frame has none):
// [1, height, width, channels], or if that last number is none of these [1, channels, height, width], as ONNX has it.
// Results are equal to the bit on all devices that store float32.
// YUV becomes 8-bit integers: round((Y - Y0) * a + (V - 128) * b + ...), clamped to 0 to 255, with coefficients of 14
// fractional bits (hal/io/frame_layout.cc). A pixel takes the U and V of its 2x2 block.
struct Frame {
  // A texture (level 0, as wide and high as the frame) holds RGBA8 or BGRA8. A device buffer holds all planes at their
  // offsets; the first plane has its handle and its size, a multiple of 4. A VkImage holds RGBA8 or BGRA8 (UNORM, UINT
  // or SRGB: the bytes count), or several planes: NV12 (G8_B8R8_2PLANE_420) or I420 (G8_B8_R8_3PLANE_420). Its handle
  // alone is in the first plane. An AHardwareBuffer is given in the same way.
  //
  // The planes of a dma-buf have descriptors, offsets and row pitches; size_bytes may be 0. BindFrame duplicates the
  // descriptors, so the caller may close its own. A run waits until the producer has written (poll); the producer may
  // write again when the run is finished. The device imports the memory, or else the host maps it.
  MemoryKind memory = MemoryKind::kHost;
  PixelFormat format = PixelFormat::kRgba8;
  int32_t width = 0, height = 0;
  std::array<FramePlane, 3> planes = {};                    // as many as the format has
  PixelRectangle crop = {};                                 // in the picture in memory; four zeros: all of it
  int32_t rotation = 0;                                     // 0, 90, 180 or 270 degrees clockwise
  bool flip_horizontally = false, flip_vertically = false;  // after the rotation
  YuvMatrix matrix = YuvMatrix::kBt601;
  bool is_full_range = false;  // Y from 0 to 255, as in JPEG; else from 16 to 235
  std::array<float, 4> mean = {0, 0, 0, 0}, scale = {1, 1, 1, 1};
  // For 8-bit inputs. True: the input is the rounded value (int8: minus 128), as in `hearth run`, and mean and scale
  // are ignored. False: the input is the scaled number, rounded to the tensor's grid.
  bool raw_bytes = true;
  uint32_t image_layout = 0;  // of a VkImage, as Binding has it
  // Of a dma-buf: the DRM format modifier that its producer reports; 0: linear. With any other one it has as many
  // planes as the modifier says, each with a handle or an offset.
  uint64_t drm_modifier = 0;
};

}  // namespace hearth

#endif  // HEARTH_FRAME_H_
