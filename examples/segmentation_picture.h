// What the segmentation examples share: pictures as rgba8, the colors of classes, and the same work done on the host to
// compare with.
#ifndef HEARTH_EXAMPLES_SEGMENTATION_PICTURE_H_
#define HEARTH_EXAMPLES_SEGMENTATION_PICTURE_H_

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace examples {

inline constexpr int kSkipped = 77;  // exit code: what the example needs is not there

struct Picture {
  int width = 0, height = 0;
  std::vector<uint8_t> rgba;  // rows from the top
};

// 0, or the exit code after a line on stderr: kSkipped if there is no such model, 1 if `path` is not a picture.
int LoadPicture(const std::string& path, const std::string& model, Picture& picture);
bool SavePng(const Picture& picture, const std::string& path);
// Bilinear.
Picture Resized(const Picture& picture, int width, int height);

// The color of one of the 21 classes of Pascal VOC; 0 is the background. Components from 0 to 255.
std::array<uint8_t, 3> ClassColor(int class_index);
constexpr int kClasses = 21;
constexpr float kMaskShare = 0.6f;  // of a class's color over the picture

// Draws the best class of each pixel over the picture. `scores` holds kClasses numbers a pixel.
Picture WithMask(const Picture& picture, std::span<const float> scores);

// -1 to 1 for 0 to 255, three channels: the model's input.
std::vector<float> ModelInput(const Picture& picture);

// The share of pixels that differ by more than two steps in a color.
double DifferentShare(const Picture& a, const Picture& b);

}  // namespace examples

#endif  // HEARTH_EXAMPLES_SEGMENTATION_PICTURE_H_
