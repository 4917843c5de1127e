// A picture as cameras and decoders give it, for an input of a model: the device converts it to RGB, crops, turns and
// resizes it and makes numbers of it, in the run's own submission.
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

// Bytes in their order in memory.
enum class PixelFormat : uint8_t {
  kRgba8,
  kBgra8,
  kRgb8,
  kNv12,  // a plane of Y, and one of pairs of U and V, each for 2x2 pixels
  kNv21,  // the same with pairs of V and U
  kI420,  // three planes: Y, U and V
};

// Which numbers Y, U and V are.
enum class YuvMatrix : uint8_t { kBt601, kBt709 };

struct FramePlane {
  uint64_t handle = 0;           // as Binding has it; 0 for the second and third plane: in the first one's memory
  uint64_t size_bytes = 0;       // of the whole memory
  uint64_t offset_bytes = 0;     // of the first byte; 0 for a plane without a handle: behind the plane before it
  uint64_t row_pitch_bytes = 0;  // from one row to the next; 0: tightly packed
};

struct PixelRectangle {
  int32_t x = 0, y = 0, width = 0, height = 0;
};

// What becomes of a frame, in this order: pixels become RGB, the rectangle is cut out, turned clockwise, mirrored,
// resized to the tensor's height and width as `hearth run` resizes pictures (bilinear at half-pixel centres, edges
// clamped, without antialiasing), and tensor = (value - mean) * scale by channel, values being 0 to 255. The tensor has
// 1, 3 or 4 channels: grey ((77 R + 150 G + 29 B) / 256, rounded down), RGB, or RGB and alpha (255 where the frame has
// none). Results are the same to the bit on all devices, as long as they store float32.
// Y, U and V become whole numbers of 8 bits: round((Y - Y0) * a + (V - 128) * b + ...) with coefficients in 14 bits
// behind the point, clamped to 0 to 255; hal/frame_layout.cc has them. A pixel takes the U and V of its 2x2 block.
struct Frame {
  // A texture (level 0, as wide and high as the frame) holds RGBA8 or BGRA8. In a buffer of the device's all planes
  // lie, at their offsets, with the handle and the size, a multiple of 4, in the first one.
  MemoryKind memory = MemoryKind::kHost;
  PixelFormat format = PixelFormat::kRgba8;
  int32_t width = 0, height = 0;
  std::array<FramePlane, 3> planes = {};                    // as many as the format has
  PixelRectangle crop = {};                                 // of the picture in memory; without width: all of it
  int32_t rotation = 0;                                     // 0, 90, 180 or 270 degrees clockwise
  bool flip_horizontally = false, flip_vertically = false;  // of what the rotation gave
  YuvMatrix matrix = YuvMatrix::kBt601;
  bool is_full_range = false;  // Y from 0 to 255, as in JPEG; else from 16 to 235
  std::array<float, 4> mean = {0, 0, 0, 0}, scale = {1, 1, 1, 1};
  // An input of 8 bits takes the values themselves, rounded (int8: minus 128), as from `hearth run`; mean and scale
  // don't count. False: it takes the real numbers that mean and scale make, rounded to the tensor's grid.
  bool raw_bytes = true;
};

}  // namespace hearth

#endif  // HEARTH_FRAME_H_
