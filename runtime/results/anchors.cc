#include "runtime/results/anchors.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "runtime/results/decoding.h"
#include "runtime/results/skeleton.h"

namespace hearth {
namespace {

// The options of SsdAnchorsCalculator in MediaPipe's graphs (mediapipe/modules/face_detection, palm_detection and
// pose_detection); all have an anchor_offset of 0.5 and a fixed_anchor_size.
struct AnchorLayers {
  int input_size = 0;
  int strides[5] = {};  // of each layer; 0 after the last
  int per_cell = 0;     // of a layer: a second one where interpolated_scale_aspect_ratio is not 0
};
constexpr AnchorLayers kAnchorLayers[] = {
    {128, {8, 16, 16, 16}, 2},      // 896: faces at a short range; palms and people before 2021
    {256, {16, 32, 32, 32}, 2},     // 896: faces before a phone's back camera
    {192, {4}, 1},                  // 2304: faces at the full range
    {192, {8, 16, 16, 16}, 2},      // 2016: palms
    {224, {8, 16, 32, 32, 32}, 2},  // 2254: people
    {256, {8, 16, 32, 32, 32}, 2},  // 2944: palms in 2019
};

// The centres of the anchors; none if MediaPipe has not so many for the input's size. Layers of one stride share the
// cells of their grid (SsdAnchorsCalculator, GenerateAnchors).
std::vector<KeyPoint> AnchorCentres(int input_size, size_t count) {
  for (const AnchorLayers& layers : kAnchorLayers) {
    if (layers.input_size != input_size) continue;
    std::vector<KeyPoint> centres;
    for (size_t k = 0; k < std::size(layers.strides) && layers.strides[k] > 0;) {
      const int stride = layers.strides[k], grid = input_size / stride;
      int in_cell = 0;
      for (; k < std::size(layers.strides) && layers.strides[k] == stride; ++k) in_cell += layers.per_cell;
      for (int at = 0; at < grid * grid * in_cell; ++at) {
        const int cell = at / in_cell, row = cell / grid, column = cell % grid;
        centres.push_back({(static_cast<float>(column) + 0.5f) / static_cast<float>(grid),
                           (static_cast<float>(row) + 0.5f) / static_cast<float>(grid)});
      }
    }
    if (centres.size() == count) return centres;
  }
  return {};
}

}  // namespace

std::optional<ResultGroup> FindAnchors(const Outputs& outputs) {
  const auto [height, width] = outputs.PictureSize();
  if (height != width) return std::nullopt;
  std::optional<size_t> scores;
  const auto numbers = outputs.FirstFree([&, size = width](size_t k) {
    if (!outputs.HasShape(k, {1, -1, -1}) || outputs.shape(k)[2] < 4 || outputs.shape(k)[2] % 2 != 0) return false;
    const int32_t count = outputs.shape(k)[1];
    if (count <= 0 || AnchorCentres(size, static_cast<size_t>(count)).empty()) return false;
    scores = outputs.FirstFree([&](size_t s) {
      return outputs.HasShape(s, {1, count, 1}) || outputs.HasShape(s, {1, count});
    });
    return scores.has_value();
  });
  if (!numbers) return std::nullopt;
  const int32_t count = outputs.shape(*numbers)[1], row = outputs.shape(*numbers)[2];
  const Skeleton* points = BoxSkeletonOf(static_cast<size_t>(row - 4) / 2);
  ResultGroup group{Meaning::kBoxes, Layout::kAnchors, "", {*numbers, *scores}};
  if (points != nullptr) {
    group.reason = fmt::format("{} numbers for each of MediaPipe's {} anchors: a box and {} points of a {}", row, count,
                               points->point_count, points->name);
  } else {
    group.meaning = Meaning::kNone;
    group.reason =
        fmt::format("not sure: it could be boxes on MediaPipe's {} anchors; --show boxes shows it so", count);
  }
  return group;
}

// As TensorsToDetectionsCalculator with reverse_output_order, sigmoid_score and score_clipping_thresh 100: centre, size
// and points are in pixels of the input, relative to the anchor's centre. Of faces that overlap by more than 0.3 the
// best one is kept; MediaPipe's graphs take a weighted mean of them.
std::vector<Box> DecodeAnchors(const Interpretation& result) {
  constexpr float kMostOverlap = 0.3f, kHighestLogit = 100;
  const auto row = static_cast<size_t>(result.infos[0].shape[2]);
  const std::vector<KeyPoint> centres =
      AnchorCentres(result.group.input_width, static_cast<size_t>(result.infos[0].shape[1]));
  const auto size = static_cast<float>(result.group.input_width);
  const Skeleton* points = BoxSkeletonOf((row - 4) / 2);
  const std::string label = !result.labels.empty() ? result.labels[0]
                            : points == nullptr    ? ""
                                                   : std::string(points->name);
  const bool are_shares = AreShares(result.values[1]);
  std::vector<Box> boxes;
  for (size_t k = 0; k < centres.size(); ++k) {
    const float value = result.values[1][k];
    const float score = are_shares ? value : Sigmoid(std::clamp(value, -kHighestLogit, kHighestLogit));
    if (!(score >= result.min_score) || score > kHighestShare) continue;
    const float* numbers = result.values[0].data() + row * k;
    const float x = centres[k].x + numbers[0] / size, y = centres[k].y + numbers[1] / size;
    const float half_width = numbers[2] / size / 2, half_height = numbers[3] / size / 2;
    if (!std::isfinite(x + y) || !std::isfinite(half_width + half_height)) continue;
    Box box{0, label, score, x - half_width, y - half_height, x + half_width, y + half_height, {}, points};
    for (size_t p = 4; p < row; p += 2)
      box.points.push_back({centres[k].x + numbers[p] / size, centres[k].y + numbers[p + 1] / size});
    boxes.push_back(std::move(box));
  }
  std::vector<Box> kept;
  for (const size_t k : WithoutOverlaps(boxes, kMostOverlap)) kept.push_back(std::move(boxes[k]));
  return kept;
}

}  // namespace hearth
