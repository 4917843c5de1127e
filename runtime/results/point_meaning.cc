#include "runtime/results/point_meaning.h"

#include <fmt/format.h>

#include "core/base/contains.h"
#include "runtime/results/skeleton.h"

namespace hearth {
namespace {

// BlazePose: 39 times x, y, z, visibility, presence; the last 6 are no points of the body.
constexpr size_t kPoseNumbers = 195, kPosePoints = 33;

// The layout of a list of so many points' numbers in pixels.
std::optional<Layout> PointLayoutOf(size_t numbers) {
  if (numbers == kPoseNumbers) return Layout::kPosePoints;
  const bool are_points = numbers == 3 * 21 || numbers == 3 * 468 || numbers == 3 * 478;
  return are_points ? std::optional(Layout::kPointsInPixels) : std::nullopt;
}

}  // namespace

// By name, or by shape: 17 maps beside 34 offsets of the same size are PoseNet's. Without offsets a name is not enough,
// since detectors have heat maps of classes: there must be as many maps as a skeleton has points, and no other maps.
std::optional<ResultGroup> FindHeatmaps(const Outputs& outputs) {
  std::optional<size_t> offsets;
  const auto maps = outputs.FirstFree([&](size_t k) {
    if (!outputs.HasShape(k, {1, -1, -1, -1}) || outputs.ElementCount(k) == 0) return false;
    const std::vector<int32_t>& shape = outputs.shape(k);
    const bool is_named = outputs.IsCalled(k, {"heatmap"});
    offsets = outputs.FirstFree([&](size_t other) {
      return outputs.HasShape(other, {1, shape[1], shape[2], 2 * shape[3]}) &&
             (shape[3] == 17 || outputs.IsCalled(other, {"offset"}));
    });
    if (offsets) return is_named || shape[3] == 17;
    const auto others = outputs.FirstFree([&](size_t other) {
      return other != k && outputs.HasShape(other, {1, shape[1], shape[2], -1});
    });
    return is_named && !others && SkeletonOf(static_cast<size_t>(shape[3])) != nullptr;
  });
  if (!maps) return std::nullopt;
  const std::vector<int32_t>& shape = outputs.shape(*maps);
  ResultGroup group{Meaning::kKeypoints, Layout::kHeatmaps, "", {*maps}};
  group.reason = outputs.IsCalled(*maps, {"heatmap"})
                     ? fmt::format("its name, and {} its {} maps",
                                   offsets ? "offsets for" : "a known skeleton with as many points as", shape[3])
                     : "17 maps beside 34 offsets, as PoseNet has for the points of a body";
  if (!offsets) return group;
  group.outputs.push_back(*offsets);
  for (size_t k = 0; k < outputs.count(); ++k) {
    const bool is_displacement =
        outputs.IsCalled(k, {"displacement"}) || (shape[3] == 17 && outputs.HasShape(k, {1, shape[1], shape[2], 32}));
    if (outputs.is_free(k) && is_displacement && !Contains(group.outputs, k)) group.outputs.push_back(k);
  }
  return group;
}

// Points of a hand, face or body, and the probability that there is one.
std::optional<ResultGroup> FindLandmarks(const Outputs& outputs) {
  if (outputs.PictureSize().first == 0 || outputs.count() < 2) return std::nullopt;
  const auto points = outputs.FirstFree(
      [&](size_t k) { return PointLayoutOf(outputs.ElementCount(k)) && outputs.shape(k).back() > 3; });
  const auto sure = outputs.FirstFree([&](size_t k) { return outputs.ElementCount(k) == 1; });
  if (!points || !sure) return std::nullopt;
  const size_t numbers = outputs.ElementCount(*points);
  const Layout layout = *PointLayoutOf(numbers);
  const bool is_pose = layout == Layout::kPosePoints;
  const Skeleton& skeleton = *SkeletonOf(is_pose ? kPosePoints : numbers / 3);
  return ResultGroup{Meaning::kKeypoints,
                     layout,
                     fmt::format("{} numbers beside a single one: x, y, z{} of the {} points of a {}", numbers,
                                 is_pose ? ", visibility and presence" : "", skeleton.point_count, skeleton.name),
                     {*points, *sure}};
}

std::optional<ResultGroup> FindScoredPoints(const Outputs& outputs) {
  // As the file has it: these are no pictures, whose channels may come first.
  const auto points = outputs.FirstFree([&](size_t k) {
    return outputs.info(k).shape == std::vector<int32_t>{1, 1, 17, 3};
  });
  if (!points) return std::nullopt;
  return ResultGroup{Meaning::kKeypoints, Layout::kScoredPoints, "17 points with y, x and a score", {*points}};
}

std::optional<Layout> PointLayoutFor(const Outputs& outputs, size_t k) {
  const std::vector<int32_t>& shape = outputs.shape(k);
  const bool are_maps = shape.size() == 4 && shape[0] == 1 && shape[1] > 1 && shape[2] > 1 && shape[3] > 0;
  if (!are_maps && shape.size() >= 3 && shape.back() == 3) return Layout::kScoredPoints;
  if (outputs.PictureSize().first == 0) return std::nullopt;
  return are_maps ? Layout::kHeatmaps : PointLayoutOf(outputs.ElementCount(k));
}

}  // namespace hearth
