// Pictures: lines, rectangles, discs and text on those with three channels, where everything outside is cut off.
#ifndef HEARTH_RUNTIME_RESULTS_DRAWING_H_
#define HEARTH_RUNTIME_RESULTS_DRAWING_H_

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hearth {

// [height][width][channels], values 0 to 255; resizing gives fractions.
struct Image {
  int width = 0, height = 0, channels = 0;
  std::vector<float> values;
};

inline uint8_t RoundedPixel(float value) {
  return static_cast<uint8_t>(std::clamp(std::floor(value + 0.5f), 0.0f, 255.0f));
}

// Bilinear at half-pixel centres, edges clamped, without antialiasing (TensorFlow's resize_bilinear with
// half_pixel_centers).
Image ResizeBilinear(const Image& image, int width, int height);

using Colour = std::array<float, 3>;  // red, green, blue, 0 to 255

constexpr Colour kWhite = {255, 255, 255}, kBlack = {0, 0, 0};

// Hues that differ well for small class numbers. Class 0, by convention the background, is black.
Colour ColourOfClass(size_t class_index);

Image BlankImage(int width, int height, const Colour& colour = kBlack);
// The picture with three channels.
Image AsRgb(const Image& image);
// Scaled so that its longer side has `longer_side` pixels.
Image ScaledTo(const Image& image, int longer_side);
// Fills the smaller picture with black below or to the right.
Image Beside(const Image& left, const Image& right);
Image Above(const Image& top, const Image& bottom);

void FillRectangle(Image& image, int left, int top, int right, int bottom, const Colour& colour, float opacity = 1);
void DrawFrame(Image& image, int left, int top, int right, int bottom, const Colour& colour, int thickness);
void DrawDisc(Image& image, float x, float y, float radius, const Colour& colour);
void DrawLine(Image& image, float x0, float y0, float x1, float y1, float thickness, const Colour& colour);

// One line in fixed glyphs; characters other than ASCII become '?'. `scale`: pixels per point.
void DrawText(Image& image, int left, int top, std::string_view text, const Colour& colour, int scale);
int TextWidth(std::string_view text, int scale);
int TextHeight(int scale);
// Text on a plate of `colour`, moved into the picture.
void DrawPlate(Image& image, int left, int top, std::string_view text, const Colour& colour, int scale);

}  // namespace hearth

#endif  // HEARTH_RUNTIME_RESULTS_DRAWING_H_
