#include "hal/io/frame_layout.h"

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/base/numbers.h"
#include "core/graph/quantize.h"

namespace hearth {
namespace {

// The table stores positions as floats, which represent integers up to 2^24.
constexpr int32_t kMostPixelsASide = 1 << 16;

Status CheckTensor(const Frame& frame, const TensorDesc& desc) {
  const bool is_8_bit = desc.dtype == DType::kUInt8 || desc.dtype == DType::kInt8;
  if (!PictureShapeOf(desc.shape.dims()) || desc.shape[0] != 1) {
    return Error(StatusCode::kUnsupported,
                 "a frame fills a tensor [1, height, width, channels] or [1, channels, height, width] of 1, 3 or 4 "
                 "channels, but this one is {}",
                 desc.shape.ToString());
  }
  const bool has_grid = IsQuantized(desc) && IsSmall(GridOf(desc));
  if (!IsPlainFloat(desc) && !has_grid && !is_8_bit) {
    return Error(StatusCode::kUnsupported, "a tensor of {} takes no frame; only real numbers and 8-bit ones do",
                 DTypeName(desc.dtype));
  }
  if (is_8_bit && !has_grid && !frame.raw_bytes)
    return Error(StatusCode::kUnsupported, "the tensor has no scale: it takes raw bytes only");
  return Status::Ok();
}

Status CheckPicture(const Frame& frame) {
  if (frame.width < 1 || frame.height < 1 || frame.width > kMostPixelsASide || frame.height > kMostPixelsASide) {
    return Error(StatusCode::kInvalidArgument, "a frame of {}x{} pixels; each side has 1 to {}", frame.width,
                 frame.height, kMostPixelsASide);
  }
  if (frame.format > PixelFormat::kI420 || frame.matrix > YuvMatrix::kBt709)
    return Error(StatusCode::kInvalidArgument, "the frame's format or matrix is not one that hearth/frame.h lists");
  if (frame.rotation != 0 && frame.rotation != 90 && frame.rotation != 180 && frame.rotation != 270) {
    return Error(StatusCode::kInvalidArgument, "the frame is rotated by 0, 90, 180 or 270 degrees, not by {}",
                 frame.rotation);
  }
  if (!AllFinite(frame.mean) || !AllFinite(frame.scale))
    return Error(StatusCode::kInvalidArgument, "the frame's mean or scale is not a finite number");
  return Status::Ok();
}

Result<PixelRectangle> CropOf(const Frame& frame) {
  const PixelRectangle& crop = frame.crop;
  if (crop.x == 0 && crop.y == 0 && crop.width == 0 && crop.height == 0)
    return PixelRectangle{0, 0, frame.width, frame.height};
  const bool is_inside = crop.x >= 0 && crop.y >= 0 && crop.width > 0 && crop.height > 0 &&
                         int64_t{crop.x} + crop.width <= frame.width && int64_t{crop.y} + crop.height <= frame.height;
  if (is_inside) return crop;
  return Error(StatusCode::kInvalidArgument,
               "the crop of {}x{} pixels at ({}, {}) is not inside the frame of {}x{}; clamp it to the frame",
               crop.width, crop.height, crop.x, crop.y, frame.width, frame.height);
}

// An image's texels are copied as bytes, plane by plane, so only the image's format matters.
Status CheckImage(const Frame& frame) {
  const FramePlane& first = frame.planes[0];
  if (frame.format == PixelFormat::kRgb8 || frame.format == PixelFormat::kNv21) {
    return Error(StatusCode::kUnsupported,
                 "an image is a frame of RGBA8, BGRA8, NV12 or I420: Vulkan has no NV21, and drivers no RGB8");
  }
  if (frame.planes[1].handle != 0 || frame.planes[2].handle != 0 || first.offset_bytes != 0 ||
      first.row_pitch_bytes != 0) {
    return Error(StatusCode::kInvalidArgument,
                 "a frame in an image has only a handle in the first plane, without offset and row pitch");
  }
  const bool has_planes = frame.format == PixelFormat::kNv12 || frame.format == PixelFormat::kI420;
  if (!has_planes || (frame.width % 2 == 0 && frame.height % 2 == 0)) return Status::Ok();
  return Error(StatusCode::kInvalidArgument, "an image of several planes has an even width and height, not {}x{}",
               frame.width, frame.height);
}

// A frame in device memory: one texture, image or buffer, which kernels read four bytes at a time.
Status CheckDeviceMemory(const Frame& frame) {
  if (IsInTexels(frame) && frame.memory != MemoryKind::kGlTexture) return CheckImage(frame);
  const FramePlane& first = frame.planes[0];
  const bool is_of_4_bytes = frame.format == PixelFormat::kRgba8 || frame.format == PixelFormat::kBgra8;
  if (frame.memory == MemoryKind::kGlTexture) {
    if (is_of_4_bytes && first.offset_bytes == 0 && first.row_pitch_bytes == 0) return Status::Ok();
    return Error(StatusCode::kInvalidArgument,
                 "a texture is a frame of RGBA8 or BGRA8, without offset and row pitch; planes lie in a buffer");
  }
  for (const FramePlane& plane : frame.planes) {
    if (plane.handle != 0 && plane.handle != first.handle)
      return Error(StatusCode::kInvalidArgument, "all planes of a frame on the device lie in one buffer");
  }
  const uint64_t of_pixels = is_of_4_bytes ? first.offset_bytes | first.row_pitch_bytes : 0;
  if ((first.size_bytes | of_pixels) % 4 == 0) return Status::Ok();
  return Error(StatusCode::kInvalidArgument,
               "the buffer's size ({}), and for pixels of 4 bytes the offset ({}) and row pitch ({}), must be "
               "multiples of 4 bytes",
               first.size_bytes, first.offset_bytes, first.row_pitch_bytes);
}

Result<PlaneLayout> LayoutOfPlane(const FramePlane& plane, const PlaneSize& size, size_t index, uint64_t memory_bytes,
                                  uint64_t behind_bytes) {
  PlaneLayout layout;
  const uint64_t row_bytes = size.row_bytes();
  layout.step_bytes = size.element_bytes;
  layout.pitch_bytes = plane.row_pitch_bytes != 0 ? plane.row_pitch_bytes : row_bytes;
  layout.first_bytes = plane.handle == 0 && plane.offset_bytes == 0 ? behind_bytes : plane.offset_bytes;
  if (layout.pitch_bytes < row_bytes) {
    return Error(StatusCode::kInvalidArgument, "plane {}: a row takes {} bytes, but the row pitch is {}", index,
                 row_bytes, layout.pitch_bytes);
  }
  // No sum can overflow: pitch times rows is compared by division.
  const uint64_t room = memory_bytes > layout.first_bytes ? memory_bytes - layout.first_bytes : 0;
  if (room < row_bytes || (size.rows > 1 && (room - row_bytes) / (size.rows - 1) < layout.pitch_bytes)) {
    return Error(StatusCode::kInvalidArgument,
                 "plane {}: {} rows of {} bytes, {} bytes apart, don't fit into {} bytes from byte {} on", index,
                 size.rows, row_bytes, layout.pitch_bytes, memory_bytes, layout.first_bytes);
  }
  return layout;
}

Result<PlaneLayouts> LayoutsOf(Frame frame) {
  const std::vector<PlaneSize> sizes = PlaneSizes(frame);
  // Offsets and pitches of a dma-buf in tiles are for its importer.
  if (frame.memory == MemoryKind::kDmaBuf && IsInTexels(frame))
    frame.planes = {FramePlane{.handle = frame.planes[0].handle}};
  PlaneLayouts planes;
  if (frame.planes[0].handle == 0) return Error(StatusCode::kInvalidArgument, "the frame's first plane has no memory");
  if (frame.memory != MemoryKind::kHost) HEARTH_TRY(CheckDeviceMemory(frame));
  uint64_t behind_bytes = 0;
  for (size_t k = 0; k < sizes.size(); ++k) {
    const FramePlane& plane = frame.planes[k];
    const bool is_left_out = k > 0 && plane.handle == 0 && plane.offset_bytes == 0;
    // A place behind the plane before it is one in that plane's memory.
    if (is_left_out && frame.planes[k - 1].handle != 0 && frame.planes[k - 1].handle != frame.planes[0].handle) {
      return Error(StatusCode::kInvalidArgument,
                   "plane {} has no handle and no offset, but the plane before it lies in other memory", k);
    }
    const uint64_t lent_bytes = plane.handle != 0 && k > 0 ? plane.size_bytes : frame.planes[0].size_bytes;
    const uint64_t memory_bytes = IsInTexels(frame) ? UINT64_MAX : lent_bytes;
    HEARTH_ASSIGN(planes[k], LayoutOfPlane(plane, sizes[k], k, memory_bytes, behind_bytes));
    behind_bytes = planes[k].first_bytes + planes[k].pitch_bytes * sizes[k].rows;
  }
  if (frame.format == PixelFormat::kNv12 || frame.format == PixelFormat::kNv21) {
    planes[2] = planes[1];
    ++planes[frame.format == PixelFormat::kNv12 ? 2 : 1].first_bytes;
  }
  return planes;
}

// Coefficients in 1/16384, from the weights of red and blue in Y (ITU-R BT.601 and BT.709).
YuvCoefficients CoefficientsOf(YuvMatrix matrix, bool is_full_range) {
  const double red = matrix == YuvMatrix::kBt601 ? 0.299 : 0.2126, blue = matrix == YuvMatrix::kBt601 ? 0.114 : 0.0722;
  const double green = 1 - red - blue;
  const double of_y = is_full_range ? 1 : 255.0 / 219, of_color = is_full_range ? 1 : 255.0 / 224;
  const auto fixed = [](double value) { return static_cast<float>(std::floor(value * 16384 + 0.5)); };
  return {.y_lowest = is_full_range ? 0.0f : 16.0f,
          .y = fixed(of_y),
          .r_v = fixed(2 * (1 - red) * of_color),
          .g_u = fixed(2 * (1 - blue) * blue / green * of_color),
          .g_v = fixed(2 * (1 - red) * red / green * of_color),
          .b_u = fixed(2 * (1 - blue) * of_color)};
}

// The input positions that `out_size` columns or rows of the tensor read, among `in_size` from `first` on; reversed:
// from the last one down.
std::vector<BilinearSample> SamplesOf(int32_t first, int32_t in_size, int32_t out_size, bool is_reversed) {
  std::vector<BilinearSample> samples(static_cast<size_t>(out_size));
  for (int32_t k = 0; k < out_size; ++k) {
    BilinearSample& sample = samples[k] = BilinearSampleAt(k, in_size, out_size);
    for (int32_t* place : {&sample.low, &sample.high}) *place = first + (is_reversed ? in_size - 1 - *place : *place);
  }
  return samples;
}

}  // namespace

std::vector<PlaneSize> PlaneSizes(const Frame& frame) {
  const auto width = static_cast<uint64_t>(frame.width), height = static_cast<uint64_t>(frame.height);
  const uint64_t half_width = (width + 1) / 2, half_height = (height + 1) / 2;
  switch (frame.format) {
    case PixelFormat::kRgba8:
    case PixelFormat::kBgra8: return {{width, height, 4}};
    case PixelFormat::kRgb8: return {{width, height, 3}};
    case PixelFormat::kNv12:
    case PixelFormat::kNv21: return {{width, height, 1}, {half_width, half_height, 2}};
    default: return {{width, height, 1}, {half_width, half_height, 1}, {half_width, half_height, 1}};
  }
}

bool IsInTexels(const Frame& frame) {
  return HasTexels(frame.memory) || (frame.memory == MemoryKind::kDmaBuf && frame.drm_modifier != 0);
}

Result<FrameLayout> LayoutOfFrame(const Frame& frame, const TensorDesc& desc) {
  HEARTH_TRY(CheckTensor(frame, desc));
  HEARTH_TRY(CheckPicture(frame));
  HEARTH_ASSIGN(const PixelRectangle crop, CropOf(frame));
  const PictureShape shape = *PictureShapeOf(desc.shape.dims());
  FrameLayout layout{.format = frame.format, .width = frame.width, .height = frame.height};
  HEARTH_ASSIGN(layout.planes, LayoutsOf(frame));
  layout.is_turned = frame.rotation == 90 || frame.rotation == 270;
  // A turn by 90 degrees makes columns rows, and the last row the first column.
  const bool across_reversed = (frame.rotation == 90 || frame.rotation == 180) != frame.flip_horizontally;
  const bool down_reversed = (frame.rotation == 180 || frame.rotation == 270) != frame.flip_vertically;
  layout.across = layout.is_turned ? SamplesOf(crop.y, crop.height, shape.width, across_reversed)
                                   : SamplesOf(crop.x, crop.width, shape.width, across_reversed);
  layout.down = layout.is_turned ? SamplesOf(crop.x, crop.width, shape.height, down_reversed)
                                 : SamplesOf(crop.y, crop.height, shape.height, down_reversed);
  layout.is_raw = frame.raw_bytes && (desc.dtype == DType::kUInt8 || desc.dtype == DType::kInt8);
  for (int c = 0; c < shape.channels; ++c) {
    layout.mean[c] = layout.is_raw ? 0 : frame.mean[c];
    layout.scale[c] = layout.is_raw ? 1 : frame.scale[c];
  }
  layout.yuv = CoefficientsOf(frame.matrix, frame.is_full_range);
  return layout;
}

NativeMemory MemoryOf(const Frame& frame, const PlaneLayouts& planes) {
  NativeMemory memory{frame.memory, frame.planes[0].handle, frame.planes[0].size_bytes};
  memory.texel = StorageType::kUnorm8;
  if (IsInTexels(frame)) {
    memory.width = static_cast<uint32_t>(frame.width);
    memory.height = static_cast<uint32_t>(frame.height);
  }
  if (IsExternal(frame.memory)) {
    memory.pixels = frame.format;
    memory.drm_modifier = frame.drm_modifier;
    const auto is_left_out = [](const FramePlane& plane) { return plane.handle == 0 && plane.offset_bytes == 0; };
    memory.external_planes.assign(frame.planes.begin(), std::ranges::find_if(frame.planes, is_left_out));
  }
  if (IsInTexels(frame) && frame.memory != MemoryKind::kGlTexture) {
    const std::vector<PlaneSize> sizes = PlaneSizes(frame);
    for (size_t k = 0; k < sizes.size(); ++k) {
      memory.planes.push_back(
          {planes[k].first_bytes, static_cast<uint32_t>(sizes[k].columns), static_cast<uint32_t>(sizes[k].rows)});
    }
    const PlaneLayout& last = planes[sizes.size() - 1];
    memory.size_bytes = RoundUp(last.first_bytes + last.pitch_bytes * sizes.back().rows, 4);  // whole words for kernels
    memory.image_layout = frame.image_layout;
  }
  return memory;
}

std::array<const std::byte*, 3> HostPlanes(const Frame& frame) {
  const auto address = [&](size_t plane) {
    const uint64_t handle = frame.planes[plane].handle != 0 ? frame.planes[plane].handle : frame.planes[0].handle;
    return reinterpret_cast<const std::byte*>(static_cast<uintptr_t>(handle));
  };
  const bool is_in_pairs = frame.format == PixelFormat::kNv12 || frame.format == PixelFormat::kNv21;
  return {address(0), address(1), address(is_in_pairs ? 1 : 2)};
}

}  // namespace hearth
