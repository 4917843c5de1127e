#include "tests/testing/pictures.h"

#include <algorithm>
#include <cmath>
#include <random>

namespace hearth::testing {
namespace {

struct Pixel {
  int r = 0, g = 0, b = 0, a = 255;
};

// [height][width]
struct Pixels {
  int32_t width = 0, height = 0;
  std::vector<Pixel> all;
  Pixel& at(int32_t x, int32_t y) { return all[static_cast<size_t>(y) * width + x]; }
  const Pixel& at(int32_t x, int32_t y) const { return all[static_cast<size_t>(y) * width + x]; }
};

Pixels Empty(int32_t width, int32_t height) {
  return {width, height, std::vector<Pixel>(static_cast<size_t>(width) * height)};
}

bool IsYuv(PixelFormat format) {
  return format == PixelFormat::kNv12 || format == PixelFormat::kNv21 || format == PixelFormat::kI420;
}

// In units of 1 / 16384, from the numbers in the standards.
struct Coefficients {
  int y_lowest, y, r_v, g_u, g_v, b_u;
};
Coefficients CoefficientsOf(const Frame& frame) {
  if (frame.matrix == YuvMatrix::kBt601)
    return frame.is_full_range ? Coefficients{0, 16384, 22970, 5638, 11700, 29032}
                               : Coefficients{16, 19077, 26149, 6419, 13320, 33050};
  return frame.is_full_range ? Coefficients{0, 16384, 25802, 3069, 7670, 30402}
                             : Coefficients{16, 19077, 29372, 3494, 8731, 34610};
}

Pixel FromYuv(int y, int u, int v, const Coefficients& of) {
  const auto byte = [](int value) { return std::clamp((value + 8192) >> 14, 0, 255); };
  const int luma = (y - of.y_lowest) * of.y;
  return {byte(luma + (v - 128) * of.r_v), byte(luma - (u - 128) * of.g_u - (v - 128) * of.g_v),
          byte(luma + (u - 128) * of.b_u)};
}

Pixels Decoded(const Frame& frame) {
  const auto plane_at = [&](size_t plane, uint64_t default_pitch, int32_t row, int64_t byte) {
    const FramePlane& of = frame.planes[plane];
    const uint64_t pitch = of.row_pitch_bytes != 0 ? of.row_pitch_bytes : default_pitch;
    const auto* memory = reinterpret_cast<const uint8_t*>(of.handle != 0 ? of.handle : frame.planes[0].handle);
    return static_cast<int>(memory[of.offset_bytes + static_cast<uint64_t>(row) * pitch + static_cast<uint64_t>(byte)]);
  };
  const Coefficients of = CoefficientsOf(frame);
  const auto width = static_cast<uint64_t>(frame.width), half = (width + 1) / 2;
  Pixels pixels = Empty(frame.width, frame.height);
  for (int32_t y = 0; y < frame.height; ++y) {
    for (int32_t x = 0; x < frame.width; ++x) {
      const auto byte = [&](int count, int lane) {
        return plane_at(0, width * static_cast<uint64_t>(count), y, int64_t{x} * count + lane);
      };
      const auto pair = [&](int lane) { return plane_at(1, half * 2, y / 2, x / 2 * 2 + lane); };
      switch (frame.format) {
        case PixelFormat::kRgba8: pixels.at(x, y) = {byte(4, 0), byte(4, 1), byte(4, 2), byte(4, 3)}; break;
        case PixelFormat::kBgra8: pixels.at(x, y) = {byte(4, 2), byte(4, 1), byte(4, 0), byte(4, 3)}; break;
        case PixelFormat::kRgb8: pixels.at(x, y) = {byte(3, 0), byte(3, 1), byte(3, 2)}; break;
        case PixelFormat::kNv12: pixels.at(x, y) = FromYuv(byte(1, 0), pair(0), pair(1), of); break;
        case PixelFormat::kNv21: pixels.at(x, y) = FromYuv(byte(1, 0), pair(1), pair(0), of); break;
        default:
          pixels.at(x, y) = FromYuv(byte(1, 0), plane_at(1, half, y / 2, x / 2), plane_at(2, half, y / 2, x / 2), of);
      }
    }
  }
  return pixels;
}

Pixels Cut(const Pixels& from, const PixelRectangle& crop) {
  if (crop.width == 0) return from;
  Pixels to = Empty(crop.width, crop.height);
  for (int32_t y = 0; y < to.height; ++y) {
    for (int32_t x = 0; x < to.width; ++x) to.at(x, y) = from.at(crop.x + x, crop.y + y);
  }
  return to;
}

// A quarter turn clockwise: the left column becomes the top row.
Pixels Turned(const Pixels& from) {
  Pixels to = Empty(from.height, from.width);
  for (int32_t y = 0; y < from.height; ++y) {
    for (int32_t x = 0; x < from.width; ++x) to.at(from.height - 1 - y, x) = from.at(x, y);
  }
  return to;
}

Pixels Mirrored(const Pixels& from, bool horizontally, bool vertically) {
  Pixels to = from;
  for (int32_t y = 0; y < from.height; ++y) {
    for (int32_t x = 0; x < from.width; ++x)
      to.at(horizontally ? from.width - 1 - x : x, vertically ? from.height - 1 - y : y) = from.at(x, y);
  }
  return to;
}

std::vector<float> Numbers(const Pixels& pixels, int32_t channels) {
  std::vector<float> numbers;
  for (const Pixel& pixel : pixels.all) {
    const int grey = (pixel.r * 77 + pixel.g * 150 + pixel.b * 29) >> 8;
    const std::array<int, 4> rgba = {channels == 1 ? grey : pixel.r, pixel.g, pixel.b, pixel.a};
    for (int32_t c = 0; c < channels; ++c) numbers.push_back(static_cast<float>(rgba[static_cast<size_t>(c)]));
  }
  return numbers;
}

// Bilinear, as the command line resizes pictures.
std::vector<float> Resized(const std::vector<float>& from, int32_t from_width, int32_t from_height, int32_t channels,
                           int32_t width, int32_t height) {
  const auto position = [](int32_t index, int32_t in_size, int32_t out_size) {
    return (static_cast<float>(index) + 0.5f) * static_cast<float>(in_size) / static_cast<float>(out_size) - 0.5f;
  };
  std::vector<float> to;
  for (int32_t y = 0; y < height; ++y) {
    for (int32_t x = 0; x < width; ++x) {
      const float px = position(x, from_width, width), py = position(y, from_height, height);
      const int32_t x0 = static_cast<int32_t>(std::floor(px)), y0 = static_cast<int32_t>(std::floor(py));
      for (int32_t c = 0; c < channels; ++c) {
        const auto at = [&](int32_t row, int32_t column) {
          row = std::clamp(row, 0, from_height - 1);
          column = std::clamp(column, 0, from_width - 1);
          return from[(static_cast<size_t>(row) * from_width + column) * channels + c];
        };
        const float wx = px - std::floor(px), wy = py - std::floor(py);
        // volatile prevents a fused multiply-add.
        volatile float top = (at(y0, x0 + 1) - at(y0, x0)) * wx;
        volatile float bottom = (at(y0 + 1, x0 + 1) - at(y0 + 1, x0)) * wx;
        const float upper = at(y0, x0) + top, lower = at(y0 + 1, x0) + bottom;
        volatile float between = (lower - upper) * wy;
        to.push_back(upper + between);
      }
    }
  }
  return to;
}

}  // namespace

std::string NameOf(PixelFormat format) {
  constexpr const char* kNames[] = {"rgba8", "bgra8", "rgb8", "nv12", "nv21", "i420"};
  return kNames[static_cast<size_t>(format)];
}

TestPicture::TestPicture(PixelFormat format, int32_t width, int32_t height, uint32_t seed, int padding, bool is_in_one)
    : format_(format), width_(width), height_(height), is_in_one_(is_in_one) {
  const auto w = static_cast<uint64_t>(width), h = static_cast<uint64_t>(height), half = (w + 1) / 2;
  const uint64_t pixel_bytes = IsYuv(format) ? 1 : format == PixelFormat::kRgb8 ? 3 : 4;
  std::array<uint64_t, 3> rows = {h, 0, 0}, row_bytes = {w * pixel_bytes, 0, 0};
  if (IsYuv(format)) {
    const bool is_i420 = format == PixelFormat::kI420;
    rows = {h, (h + 1) / 2, is_i420 ? (h + 1) / 2 : 0};
    row_bytes = {w, is_i420 ? half : half * 2, is_i420 ? half : 0};
  }
  std::mt19937 random(seed);
  for (size_t k = 0; k < 3 && rows[k] > 0; ++k) {
    pitches_[k] = row_bytes[k] + static_cast<uint64_t>(padding) * (k + 1);
    // Nothing after the last row's last byte, except in shared memory, where the next plane follows a whole row.
    const uint64_t size = (rows[k] - 1) * pitches_[k] + (is_in_one ? pitches_[k] : row_bytes[k]);
    std::vector<std::byte>& memory = memories_[is_in_one ? 0 : k];
    for (uint64_t byte = 0; byte < size; ++byte) memory.push_back(static_cast<std::byte>(random() % 256));
  }
}

Frame TestPicture::frame() const {
  Frame frame{.format = format_, .width = width_, .height = height_};
  uint64_t offset_bytes = 0;
  for (size_t k = 0; k < 3; ++k) {
    FramePlane& plane = frame.planes[k];
    plane.row_pitch_bytes = pitches_[k];
    plane.offset_bytes = is_in_one_ ? offset_bytes : 0;
    offset_bytes += pitches_[k] * static_cast<uint64_t>(k == 0 ? height_ : (height_ + 1) / 2);
    if (memories_[k].empty()) continue;
    plane.handle = reinterpret_cast<uintptr_t>(memories_[k].data());
    plane.size_bytes = memories_[k].size();
  }
  return frame;
}

std::vector<float> ExpectedValues(const Frame& frame, int32_t height, int32_t width, int32_t channels) {
  Pixels pixels = Cut(Decoded(frame), frame.crop);
  for (int32_t turned = 0; turned < frame.rotation; turned += 90) pixels = Turned(pixels);
  pixels = Mirrored(pixels, frame.flip_horizontally, frame.flip_vertically);
  return Resized(Numbers(pixels, channels), pixels.width, pixels.height, channels, width, height);
}

}  // namespace hearth::testing
