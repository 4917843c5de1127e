#include "tools/hearth/class_map.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace hearth {
namespace {

constexpr int kPanelSize = 384;   // the longer side of a panel; small maps are drawn larger
constexpr float kOpacity = 0.6f;  // of the colours over the picture

using Colour = std::array<float, 3>;

// Hues a golden-ratio turn apart never come close to each other for small class numbers.
Colour ColourOf(size_t class_index) {
  if (class_index == 0) return {0, 0, 0};
  const float hue = std::fmod(static_cast<float>(class_index - 1) * 0.618034f, 1.0f) * 6.0f;
  const auto channel = [&](float shift) {
    const float distance = std::fabs(std::fmod(hue + shift, 6.0f) - 3.0f);
    return 255.0f * std::clamp(distance - 1.0f, 0.0f, 1.0f);
  };
  return {channel(0), channel(4), channel(2)};
}

// A class over the grey of the picture, so that its colour can't be taken for the picture's own.
Colour Blended(const float* picture, size_t class_index, float opacity) {
  const float grey = 0.299f * picture[0] + 0.587f * picture[1] + 0.114f * picture[2];
  Colour colour = ColourOf(class_index);
  for (float& channel : colour) channel = class_index == 0 ? grey : grey + (channel - grey) * opacity;
  return colour;
}

// Nearest pixel of the map for pixel `index` of the panel.
int MapIndex(int index, int panel_size, int map_size) {
  return static_cast<int>(static_cast<int64_t>(index) * map_size / panel_size);
}

}  // namespace

bool IsClassMap(const TensorInfo& info) {
  return info.shape.size() == 4 && info.shape[0] == 1 && info.shape[1] > 0 && info.shape[2] > 0 && info.shape[3] >= 2 &&
         int64_t{info.shape[1]} * info.shape[2] > 1;
}

Image DrawClassMap(const TensorInfo& info, std::span<const float> scores, const Image& picture) {
  const int map_height = info.shape[1], map_width = info.shape[2];
  const size_t classes = static_cast<size_t>(info.shape[3]);
  const int full_height = picture.values.empty() ? map_height : picture.height;
  const int full_width = picture.values.empty() ? map_width : picture.width;
  const float scale = static_cast<float>(kPanelSize) / static_cast<float>(std::max(full_height, full_width));
  const int height = std::max(1, static_cast<int>(std::lround(static_cast<float>(full_height) * scale)));
  const int width = std::max(1, static_cast<int>(std::lround(static_cast<float>(full_width) * scale)));
  const int panels = picture.values.empty() ? 1 : 2;
  const Image panel = picture.values.empty()
                          ? Image{width, height, 3, std::vector<float>(static_cast<size_t>(width) * height * 3)}
                          : ResizeBilinear(picture, width, height);
  Image drawn{width * panels, height, 3, std::vector<float>(panel.values.size() * panels)};
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      const size_t pixel =
          static_cast<size_t>(MapIndex(y, height, map_height)) * map_width + MapIndex(x, width, map_width);
      const auto of_pixel = scores.subspan(pixel * classes, classes);
      const size_t winner = static_cast<size_t>(std::max_element(of_pixel.begin(), of_pixel.end()) - of_pixel.begin());
      const float* below = panel.values.data() + (static_cast<size_t>(y) * width + x) * 3;
      float* row = drawn.values.data() + static_cast<size_t>(y) * drawn.width * 3;
      if (panels == 2) std::copy_n(below, 3, row + x * 3);
      const Colour blended = Blended(below, winner, panels == 2 ? kOpacity : 1.0f);
      std::copy_n(blended.data(), 3, row + ((panels - 1) * width + x) * 3);
    }
  }
  return drawn;
}

}  // namespace hearth
