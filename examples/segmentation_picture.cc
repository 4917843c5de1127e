#include "segmentation_picture.h"

#include <stb/stb_image.h>
#include <stb/stb_image_write.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>

namespace examples {

int LoadPicture(const std::string& path, const std::string& model, Picture& picture) {
  if (!std::filesystem::exists(model)) {
    std::fprintf(stderr, "there is no model %s\n", model.c_str());
    return kSkipped;
  }
  const std::unique_ptr<stbi_uc, void (*)(void*)> pixels(
      stbi_load(path.c_str(), &picture.width, &picture.height, nullptr, 4), stbi_image_free);
  if (pixels == nullptr) {
    std::fprintf(stderr, "%s is not a picture\n", path.c_str());
    return 1;
  }
  picture.rgba.assign(pixels.get(), pixels.get() + size_t{4} * picture.width * picture.height);
  return 0;
}

bool SavePng(const Picture& picture, const std::string& path) {
  return stbi_write_png(path.c_str(), picture.width, picture.height, 4, picture.rgba.data(), picture.width * 4) != 0;
}

Picture Resized(const Picture& picture, int width, int height) {
  Picture result{width, height, std::vector<uint8_t>(size_t{4} * width * height)};
  const auto at = [&](int y, int x, int c) {
    y = std::clamp(y, 0, picture.height - 1);
    x = std::clamp(x, 0, picture.width - 1);
    return static_cast<float>(picture.rgba[(size_t{4} * y * picture.width) + size_t{4} * x + c]);
  };
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      const float from_y = (static_cast<float>(y) + 0.5f) * picture.height / height - 0.5f;
      const float from_x = (static_cast<float>(x) + 0.5f) * picture.width / width - 0.5f;
      const int top = static_cast<int>(std::floor(from_y)), left = static_cast<int>(std::floor(from_x));
      const float down = from_y - top, right = from_x - left;
      for (int c = 0; c < 4; ++c) {
        const float above = at(top, left, c) * (1 - right) + at(top, left + 1, c) * right;
        const float below = at(top + 1, left, c) * (1 - right) + at(top + 1, left + 1, c) * right;
        result.rgba[(size_t{4} * y * width) + size_t{4} * x + c] =
            static_cast<uint8_t>(std::lround(above * (1 - down) + below * down));
      }
    }
  }
  return result;
}

std::array<uint8_t, 3> ClassColor(int class_index) {
  std::array<uint8_t, 3> color{};
  // Each bit of the number is a step of a component, the lowest the largest one.
  for (int bit = 0; bit < 6; ++bit) {
    if ((class_index >> bit & 1) != 0) color[bit % 3] = static_cast<uint8_t>(color[bit % 3] | (128 >> (bit / 3)));
  }
  return color;
}

Picture WithMask(const Picture& picture, std::span<const float> scores) {
  Picture result = picture;
  for (size_t pixel = 0; pixel * 4 < picture.rgba.size(); ++pixel) {
    const float* first = scores.data() + pixel * kClasses;
    const int best = static_cast<int>(std::max_element(first, first + kClasses) - first);
    uint8_t* rgba = &result.rgba[pixel * 4];
    rgba[3] = 255;
    if (best == 0) continue;
    const std::array<uint8_t, 3> color = ClassColor(best);
    for (int c = 0; c < 3; ++c)
      rgba[c] = static_cast<uint8_t>(std::lround(rgba[c] * (1 - kMaskShare) + color[c] * kMaskShare));
  }
  return result;
}

std::vector<float> ModelInput(const Picture& picture) {
  std::vector<float> input;
  for (size_t k = 0; k < picture.rgba.size(); ++k) {
    if (k % 4 != 3) input.push_back(picture.rgba[k] / 255.0f * 2.0f - 1.0f);
  }
  return input;
}

double DifferentShare(const Picture& a, const Picture& b) {
  if (a.rgba.size() != b.rgba.size()) return 1;
  size_t different = 0;
  for (size_t k = 0; k < a.rgba.size(); k += 4) {
    bool differs = false;
    for (size_t c = 0; c < 3; ++c) differs = differs || std::abs(a.rgba[k + c] - b.rgba[k + c]) > 2;
    different += differs ? 1 : 0;
  }
  return static_cast<double>(different) / static_cast<double>(a.rgba.size() / 4);
}

}  // namespace examples
