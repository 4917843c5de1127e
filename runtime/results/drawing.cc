#include "runtime/results/drawing.h"

#include <stb/stb_easy_font.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "hal/io/frame_layout.h"

namespace hearth {
namespace {

constexpr int kLineHeight = 11;  // of a line of stb_easy_font, with descenders

std::string Ascii(std::string_view text) {
  std::string ascii;
  for (const unsigned char c : text) {
    if ((c & 0xc0) == 0x80) continue;  // a later byte of a UTF-8 character
    ascii += c >= 0x20 && c < 0x7f ? static_cast<char>(c) : '?';
  }
  return ascii;
}

void Blend(Image& image, int x, int y, const Colour& colour, float opacity) {
  if (x < 0 || y < 0 || x >= image.width || y >= image.height) return;
  float* pixel = image.values.data() + (static_cast<size_t>(y) * image.width + x) * 3;
  for (size_t c = 0; c < 3; ++c) pixel[c] += (colour[c] - pixel[c]) * opacity;
}

// Clamps a line or column to the picture; NaN becomes the border.
int Within(float place, int size) {
  return std::isfinite(place) ? static_cast<int>(std::clamp(place, 0.0f, static_cast<float>(size))) : 0;
}

void Copy(const Image& from, Image& to, int left, int top) {
  for (int y = 0; y < from.height; ++y) {
    std::copy_n(from.values.begin() + static_cast<std::ptrdiff_t>(y) * from.width * 3,
                static_cast<size_t>(from.width) * 3,
                to.values.begin() + (static_cast<std::ptrdiff_t>(y + top) * to.width + left) * 3);
  }
}

// Black, or white on colours where black can't be read.
Colour InkOn(const Colour& background) {
  return 0.299f * background[0] + 0.587f * background[1] + 0.114f * background[2] > 110 ? kBlack : kWhite;
}

}  // namespace

Colour ColourOfClass(size_t class_index) {
  if (class_index == 0) return kBlack;
  // Each hue is the golden ratio further.
  const float hue = std::fmod(static_cast<float>(class_index - 1) * 0.618034f, 1.0f) * 6.0f;
  const auto channel = [&](float shift) {
    const float distance = std::fabs(std::fmod(hue + shift, 6.0f) - 3.0f);
    return 255.0f * std::clamp(distance - 1.0f, 0.0f, 1.0f);
  };
  return {channel(0), channel(4), channel(2)};
}

Image ResizeBilinear(const Image& image, int width, int height) {
  Image resized{width, height, image.channels,
                std::vector<float>(static_cast<size_t>(width) * height * image.channels)};
  size_t out = 0;
  for (int y = 0; y < height; ++y) {
    const BilinearSample sy = BilinearSampleAt(y, image.height, height);
    for (int x = 0; x < width; ++x) {
      const BilinearSample sx = BilinearSampleAt(x, image.width, width);
      for (int c = 0; c < image.channels; ++c) {
        const auto at = [&](int row, int column) {
          return image.values[(static_cast<size_t>(row) * image.width + column) * image.channels + c];
        };
        const float top = at(sy.low, sx.low) + (at(sy.low, sx.high) - at(sy.low, sx.low)) * sx.weight;
        const float bottom = at(sy.high, sx.low) + (at(sy.high, sx.high) - at(sy.high, sx.low)) * sx.weight;
        resized.values[out++] = top + (bottom - top) * sy.weight;
      }
    }
  }
  return resized;
}

Image BlankImage(int width, int height, const Colour& colour) {
  Image image{width, height, 3, {}};
  image.values.resize(static_cast<size_t>(width) * height * 3);
  for (size_t k = 0; k < image.values.size(); ++k) image.values[k] = colour[k % 3];
  return image;
}

Image AsRgb(const Image& image) {
  if (image.channels == 3) return image;
  Image rgb = BlankImage(image.width, image.height);
  for (size_t pixel = 0; pixel < rgb.values.size() / 3; ++pixel) {
    for (size_t c = 0; c < 3; ++c) {
      rgb.values[3 * pixel + c] = image.values[pixel * image.channels + (image.channels == 1 ? 0 : c)];
    }
  }
  return rgb;
}

Image ScaledTo(const Image& image, int longer_side) {
  const float scale = static_cast<float>(longer_side) / static_cast<float>(std::max(image.height, image.width));
  const auto scaled = [&](int size) {
    return std::max(1, static_cast<int>(std::lround(static_cast<float>(size) * scale)));
  };
  return ResizeBilinear(image, scaled(image.width), scaled(image.height));
}

Image Beside(const Image& left, const Image& right) {
  Image both = BlankImage(left.width + right.width, std::max(left.height, right.height));
  Copy(left, both, 0, 0);
  Copy(right, both, left.width, 0);
  return both;
}

Image Above(const Image& top, const Image& bottom) {
  Image both = BlankImage(std::max(top.width, bottom.width), top.height + bottom.height);
  Copy(top, both, 0, 0);
  Copy(bottom, both, 0, top.height);
  return both;
}

void FillRectangle(Image& image, int left, int top, int right, int bottom, const Colour& colour, float opacity) {
  for (int y = std::max(0, top); y < std::min(image.height, bottom); ++y) {
    for (int x = std::max(0, left); x < std::min(image.width, right); ++x) Blend(image, x, y, colour, opacity);
  }
}

void DrawFrame(Image& image, int left, int top, int right, int bottom, const Colour& colour, int thickness) {
  FillRectangle(image, left, top, right, top + thickness, colour);
  FillRectangle(image, left, bottom - thickness, right, bottom, colour);
  FillRectangle(image, left, top + thickness, left + thickness, bottom - thickness, colour);
  FillRectangle(image, right - thickness, top + thickness, right, bottom - thickness, colour);
}

void DrawDisc(Image& image, float x, float y, float radius, const Colour& colour) {
  DrawLine(image, x, y, x, y, 2 * radius, colour);
}

void DrawLine(Image& image, float x0, float y0, float x1, float y1, float thickness, const Colour& colour) {
  const float radius = thickness / 2;
  const int top = Within(std::min(y0, y1) - radius - 1, image.height),
            bottom = Within(std::max(y0, y1) + radius + 2, image.height);
  const int left = Within(std::min(x0, x1) - radius - 1, image.width),
            right = Within(std::max(x0, x1) + radius + 2, image.width);
  const float dx = x1 - x0, dy = y1 - y0, length = dx * dx + dy * dy;
  if (!std::isfinite(length)) return;
  for (int y = top; y < bottom; ++y) {
    // The line's part near this row.
    const float middle = dy == 0 ? x0 : x0 + (static_cast<float>(y) - y0) / dy * dx;
    const float reach = dy == 0 ? std::numeric_limits<float>::max() : (radius + 1) * std::sqrt(length) / std::abs(dy);
    const int first = std::max(left, Within(middle - reach, image.width));
    const int behind = std::min(right, Within(std::min(middle + reach + 2, 1e9f), image.width));
    for (int x = first; x < behind; ++x) {
      const float px = static_cast<float>(x) - x0, py = static_cast<float>(y) - y0;
      const float along = length > 0 ? std::clamp((px * dx + py * dy) / length, 0.0f, 1.0f) : 0.0f;
      const float distance = std::hypot(px - along * dx, py - along * dy);
      const float opacity = std::clamp(radius + 0.5f - distance, 0.0f, 1.0f);
      if (opacity > 0) Blend(image, x, y, colour, opacity);
    }
  }
}

void DrawText(Image& image, int left, int top, std::string_view text, const Colour& colour, int scale) {
  constexpr size_t kBytesPerLetter = 1000, kCornerBytes = 16, kQuadBytes = 4 * kCornerBytes;
  std::string ascii = Ascii(text);
  std::vector<char> quads(ascii.size() * kBytesPerLetter + kQuadBytes);
  const int count = stb_easy_font_print(0, 0, ascii.data(), nullptr, quads.data(), static_cast<int>(quads.size()));
  for (int k = 0; k < count; ++k) {
    const auto corner = [&](size_t index) {
      std::array<float, 2> place;
      std::memcpy(place.data(), quads.data() + static_cast<size_t>(k) * kQuadBytes + index * kCornerBytes,
                  sizeof place);
      return place;
    };
    const auto first = corner(0), last = corner(2);
    const auto scaled = [&](float place) { return static_cast<int>(std::lround(place * static_cast<float>(scale))); };
    FillRectangle(image, left + scaled(first[0]), top + scaled(first[1]), left + scaled(last[0]), top + scaled(last[1]),
                  colour);
  }
}

int TextWidth(std::string_view text, int scale) {
  std::string ascii = Ascii(text);
  return stb_easy_font_width(ascii.data()) * scale;
}

int TextHeight(int scale) {
  return kLineHeight * scale;
}

void DrawPlate(Image& image, int left, int top, std::string_view text, const Colour& colour, int scale) {
  const int pad = 2 * scale;
  const int width = TextWidth(text, scale) + 2 * pad, height = TextHeight(scale) + pad;
  left = std::clamp(left, 0, std::max(0, image.width - width));
  top = std::clamp(top, 0, std::max(0, image.height - height));
  FillRectangle(image, left, top, left + width, top + height, colour, 0.85f);
  DrawText(image, left + pad, top + pad, text, InkOn(colour), scale);
}

}  // namespace hearth
