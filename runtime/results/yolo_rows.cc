#include "runtime/results/yolo_rows.h"

#include <algorithm>
#include <cmath>

#include "runtime/results/decoding.h"
#include "runtime/results/skeleton.h"

namespace hearth {
namespace {

constexpr size_t kFewestPoints = 2;
// In sizes of a box. Points of a person lie within it; of scores in their place, the middle one lies several away.
constexpr float kFarFromBox = 1;
// YOLO v8's angles lie between -pi/4 and 3 pi/4, others' between -pi/2 and pi/2.
constexpr float kLeastAngle = -1.6f, kMostAngle = 2.4f;

// Of YOLO's grids: the usual ones, those with a fourth for large objects or small ones, and the tiny networks'.
constexpr int kUsualStrides[] = {8, 16, 32}, kLargeStrides[] = {8, 16, 32, 64}, kSmallStrides[] = {4, 8, 16, 32},
              kTinyStrides[] = {16, 32};
constexpr std::span<const int> kAllStrides[] = {kUsualStrides, kLargeStrides, kSmallStrides, kTinyStrides};

size_t CellCount(std::span<const int> strides, int height, int width) {
  size_t cells = 0;
  for (const int stride : strides) {
    if (height % stride != 0 || width % stride != 0) return 0;
    cells += static_cast<size_t>(height / stride) * static_cast<size_t>(width / stride);
  }
  return cells;
}

YoloShape ShapeWith(size_t rows, size_t numbers, bool is_transposed, int height, int width) {
  for (const std::span<const int> strides : kAllStrides) {
    const size_t cells = CellCount(strides, height, width);
    for (const size_t per_cell : {size_t{1}, size_t{3}}) {
      if (cells > 0 && rows == per_cell * cells) return {rows, numbers, is_transposed, per_cell, strides};
    }
  }
  return {rows, numbers, is_transposed, 0, {}};
}

}  // namespace

std::optional<YoloShape> YoloShapeOf(const std::vector<int32_t>& shape, int height, int width) {
  if (shape.size() != 3 || shape[0] != 1 || shape[1] < 1 || shape[2] < 1 || height <= 0) return std::nullopt;
  const auto first = static_cast<size_t>(shape[1]), second = static_cast<size_t>(shape[2]);
  const YoloShape plain = ShapeWith(first, second, false, height, width);
  const YoloShape transposed = ShapeWith(second, first, true, height, width);
  const bool is_transposed =
      (plain.per_cell > 0) == (transposed.per_cell > 0) ? second > first : transposed.per_cell > 0;
  const YoloShape chosen = is_transposed ? transposed : plain;
  return chosen.numbers > 4 ? std::optional(chosen) : std::nullopt;
}

size_t PoseClassCount(size_t numbers, size_t label_count) {
  const size_t behind = numbers - 4;
  if (label_count > 0 && behind > label_count && (behind - label_count) % kPointNumbers == 0) return label_count;
  return (behind - 1) % kPointNumbers + 1;
}

bool HavePoints(const YoloRows& rows) {
  if (rows.tail() < kFewestPoints * kPointNumbers || rows.tail() % kPointNumbers != 0) return false;
  std::vector<float> distances, visible;
  for (size_t row = 0; row < rows.shape.rows; ++row) {
    for (size_t n = rows.end; n < rows.shape.numbers; n += kPointNumbers) {
      const float x = std::abs(rows.at(row, n) - rows.at(row, 0)) / rows.at(row, 2);
      const float y = std::abs(rows.at(row, n + 1) - rows.at(row, 1)) / rows.at(row, 3);
      visible.push_back(rows.at(row, n + 2));
      if (std::isfinite(x + y)) distances.push_back(std::max(x, y));
    }
  }
  return distances.size() * 2 > visible.size() && AreShares(visible) && MiddleOf(std::move(distances)) <= kFarFromBox;
}

bool IsAngle(float value) {
  return value >= kLeastAngle && value <= kMostAngle;
}

bool HaveAngles(const YoloRows& rows) {
  const size_t last = rows.shape.numbers - 1;
  const std::vector<float> angles = rows.Columns(last, last + 1);
  return !AreShares(angles) && LieWithin(angles, kLeastAngle, kMostAngle) && AreShares(rows.Columns(4, last));
}

void AddPoints(const YoloRows& rows, size_t row, YoloUnit unit, Box& box) {
  box.skeleton = SkeletonOf(rows.tail() / rows.point_numbers);
  for (size_t n = rows.end; n + rows.point_numbers <= rows.shape.numbers; n += rows.point_numbers) {
    const float seen = rows.point_numbers == kPointNumbers ? rows.at(row, n + 2) : 1;
    box.points.push_back(
        {rows.at(row, n) / unit.x, rows.at(row, n + 1) / unit.y, IsShare(seen) ? seen : Sigmoid(seen)});
  }
}

void Turn(const YoloRows& rows, size_t row, int input_height, int input_width, Box& box) {
  const float angle = rows.at(row, rows.shape.numbers - 1), cosine = std::cos(angle), sine = std::sin(angle);
  const auto pixels_x = static_cast<float>(input_width), pixels_y = static_cast<float>(input_height);
  const float x = (box.left + box.right) / 2, y = (box.top + box.bottom) / 2;
  const float width = (box.right - box.left) * pixels_x, height = (box.bottom - box.top) * pixels_y;
  box.skeleton = CornersSkeleton();
  constexpr float kCorners[][2] = {{-0.5f, -0.5f}, {0.5f, -0.5f}, {0.5f, 0.5f}, {-0.5f, 0.5f}};
  for (const auto& [across, down] : kCorners) {
    box.points.push_back({x + (across * width * cosine - down * height * sine) / pixels_x,
                          y + (across * width * sine + down * height * cosine) / pixels_y});
  }
  const auto [left, right] = std::ranges::minmax(box.points, {}, &KeyPoint::x);
  const auto [top, bottom] = std::ranges::minmax(box.points, {}, &KeyPoint::y);
  box.left = left.x, box.right = right.x, box.top = top.y, box.bottom = bottom.y;
}

PixelMap MasksOf(const YoloRows& rows, std::span<const size_t> rows_of, const Interpretation& result) {
  const std::vector<int32_t>& shape = result.infos[1].shape;
  const std::vector<float>& prototypes = result.values[1];
  PixelMap map{shape[1], shape[2], {}};
  const auto width = static_cast<size_t>(map.width), count = static_cast<size_t>(shape[3]);
  map.values.resize(static_cast<size_t>(map.height) * width);
  // The first pixel whose centre lies at or behind a position.
  const auto pixel = [](float position, int size) {
    return static_cast<size_t>(std::ceil(std::clamp(position * static_cast<float>(size) - 0.5f, 0.0f, 1.0f * size)));
  };
  for (size_t k = 0; k < rows_of.size(); ++k) {
    const Box& box = result.boxes[k];
    for (size_t y = pixel(box.top, map.height); y < pixel(box.bottom, map.height); ++y) {
      for (size_t x = pixel(box.left, map.width); x < pixel(box.right, map.width); ++x) {
        float& owner = map.values[y * width + x];
        if (owner > 0) continue;
        float sum = 0;
        for (size_t m = 0; m < count; ++m)
          sum += rows.at(rows_of[k], rows.end + m) * prototypes[(y * width + x) * count + m];
        if (sum > 0) owner = static_cast<float>(k + 1);
      }
    }
  }
  return map;
}

}  // namespace hearth
