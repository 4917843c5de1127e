// Decodes the numbers of a result: boxes, key points, masks, classes per pixel. Positions are fractions of the
// picture's width and height, from its upper left corner. Pictures are stretched to a model's input, so positions hold
// for the original picture too.
#ifndef HEARTH_TOOLS_HEARTH_RESULTS_DECODED_RESULTS_H_
#define HEARTH_TOOLS_HEARTH_RESULTS_DECODED_RESULTS_H_

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "hearth/tensor_info.h"
#include "tools/hearth/results/output_meaning.h"
#include "tools/hearth/results/skeleton.h"

namespace hearth {

// Whether a number can be a score, which is shown as a share of 1. Logits are not.
inline bool IsShare(float value) {
  return value >= 0 && value <= 1;
}

struct KeyPoint {
  float x = 0, y = 0;
  float score = 1;  // 1 if the model gives none
};

struct Box {
  size_t class_index = 0;
  std::string label;  // empty if there is none
  float score = 0;
  float left = 0, top = 0, right = 0, bottom = 0;
  std::vector<KeyPoint> points;  // of a face
};

struct KeyPoints {
  const Skeleton* skeleton = nullptr;  // null: no names, no limbs
  float score = 1;                     // that there is an object at all
  std::vector<KeyPoint> points;
};

// One number per pixel; the class for a class map.
struct PixelMap {
  int height = 0, width = 0;
  std::vector<float> values;
};

// The outputs of a group as real numbers, in its order.
using GroupValues = std::vector<std::vector<float>>;

// Highest scores first, without those below `min_score`. Precondition of all: the layout is one of that meaning.
std::vector<Box> DecodeBoxes(const ResultGroup& group, const GroupValues& values, std::span<const std::string> labels,
                             float min_score);
// `infos`: the group's outputs.
KeyPoints DecodeKeyPoints(const ResultGroup& group, std::span<const TensorInfo> infos, const GroupValues& values);
// The foreground probability of each pixel, 0 to 1. Values outside of that range count as logits (of two channels:
// softmax), bytes as 255ths.
PixelMap DecodeMask(const ResultGroup& group, const TensorInfo& info, std::span<const float> values);
PixelMap DecodeClassMap(const ResultGroup& group, const TensorInfo& info, std::span<const float> values);

// The share of pixels with at least `threshold`.
float ShareOf(const PixelMap& mask, float threshold);

struct ClassArea {
  size_t class_index = 0;
  std::string label;
  float share = 0;  // of all pixels
};
// The areas of the classes that occur, largest first.
std::vector<ClassArea> AreasOf(const PixelMap& classes, std::span<const std::string> labels);

}  // namespace hearth

#endif  // HEARTH_TOOLS_HEARTH_RESULTS_DECODED_RESULTS_H_
