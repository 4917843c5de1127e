// Decodes the numbers of a result: scores, boxes, key points, masks, classes per pixel. Pictures are stretched to a
// model's input, so positions hold for the original picture too.
#ifndef HEARTH_RUNTIME_RESULTS_DECODING_H_
#define HEARTH_RUNTIME_RESULTS_DECODING_H_

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "hearth/results.h"

namespace hearth {

// Whether a number can be a score, which is shown as a share of 1. Logits are not.
inline bool IsShare(float value) {
  return value >= 0 && value <= 1;
}
// Whether all lie within these limits, except one in a hundred: a cell whose numbers are wild says nothing of the
// others.
bool LieWithin(std::span<const float> values, float low, float high);
// So, but for rounding.
constexpr float kHighestShare = 1.01f;
inline bool AreShares(std::span<const float> values) {
  return LieWithin(values, 1 - kHighestShare, kHighestShare);
}
// The middle one in order; 0 without any.
float MiddleOf(std::vector<float> values);
float Sigmoid(float value);

// A class or count that a model gives as a float of any value.
inline size_t IndexOf(float value) {
  return value >= 1 ? static_cast<size_t>(std::min(value, 1e6f)) : 0;
}
// Whether a model's number can be a class: a whole one, below a million.
inline bool IsClass(float value) {
  return value >= 0 && value < 1e6f && value == std::floor(value);
}
// What people read: the label, or the class's number where there is none.
template <typename Item>
std::string ClassText(const Item& item) {
  return item.label.empty() ? fmt::format("class {}", item.class_index) : item.label;
}
inline std::string LabelOf(size_t class_index, std::span<const std::string> labels) {
  return class_index < labels.size() ? labels[class_index] : "";
}

// The elements as real numbers: quantized ones as scale * (stored - zero_point), per tensor.
// kUnsupported for element types without an array form ("int4").
Result<std::vector<double>> OutputAsReals(const TensorInfo& info, std::span<const std::byte> bytes);

// The outputs of a group as real numbers, in its order.
using GroupValues = std::vector<std::vector<float>>;

// Precondition of all that take a group: its layout is one of that meaning, and the values have the outputs' sizes.

// The `count` highest, highest first; among equals the lower index first; NaN last.
std::vector<ScoredClass> HighestScores(std::span<const float> scores, size_t count,
                                       std::span<const std::string> labels);
// Of Layout::kDetections, highest scores first, without those below `min_score`.
std::vector<Box> ListedBoxes(const GroupValues& values, std::span<const std::string> labels, float min_score);
// The places of boxes, highest scores first; among equals the first.
std::vector<size_t> BestFirst(std::span<const Box> boxes);
// Non-maximum suppression: the places of boxes, highest scores first, without those that overlap a better one of their
// class by more than `most_overlap` (intersection over union), and at most 300, as YOLO's own programs give. Rotated
// boxes overlap by what lies within both.
std::vector<size_t> WithoutOverlaps(std::span<const Box> boxes, float most_overlap);
// `infos`: the group's outputs.
KeyPoints DecodeKeyPoints(const ResultGroup& group, std::span<const TensorInfo> infos, const GroupValues& values);
// The foreground probability of each pixel, 0 to 1. Values outside of that range count as logits (of two channels:
// softmax), bytes as 255ths.
PixelMap DecodeMask(const ResultGroup& group, const TensorInfo& info, std::span<const float> values);
PixelMap DecodeClassMap(const ResultGroup& group, const TensorInfo& info, std::span<const float> values);
// The areas of the classes that occur, largest first.
std::vector<ClassArea> AreasOf(const PixelMap& classes, std::span<const std::string> labels);

}  // namespace hearth

#endif  // HEARTH_RUNTIME_RESULTS_DECODING_H_
