#include "runtime/results/yolo.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "runtime/results/decoding.h"

namespace hearth {
namespace {

constexpr float kMostOverlap = 0.45f;  // YOLO v5's and YOLOX's own
constexpr size_t kListedNumbers = 6, kCocoClasses = 80;

// Of YOLO's grids: the usual ones, those with a fourth for large objects or small ones, and the tiny networks'.
constexpr int kUsualStrides[] = {8, 16, 32}, kLargeStrides[] = {8, 16, 32, 64}, kSmallStrides[] = {4, 8, 16, 32},
              kTinyStrides[] = {16, 32};
constexpr std::span<const int> kAllStrides[] = {kUsualStrides, kLargeStrides, kSmallStrides, kTinyStrides};

struct YoloShape {
  size_t rows = 0, numbers = 0;
  bool is_transposed = false;    // [1,numbers,rows]
  size_t per_cell = 0;           // rows; 0 if they are not the cells of the picture's grids
  std::span<const int> strides;  // of these grids
};

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

// The longer dimension has the rows, unless only the other one fits the picture.
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

// Three rows in a cell are those of v5's anchors. In one row a cell, the number of labels says whether there is an
// objectness; without labels COCO's 80 classes do; numbers before rows are v8's order.
std::optional<Layout> CertainLayout(const YoloShape& shape, size_t coefficients, size_t label_count) {
  if (shape.per_cell == 0 || shape.numbers < 5 + coefficients) return std::nullopt;
  const size_t scores = shape.numbers - 4 - coefficients, classes = label_count > 0 ? label_count : kCocoClasses;
  if (scores == classes + 1) return Layout::kYoloObjectness;
  if (shape.per_cell == 3) return scores >= 2 ? std::optional(Layout::kYoloObjectness) : std::nullopt;
  if (scores == classes || shape.is_transposed) return Layout::kYoloScores;
  return std::nullopt;
}

// ---- Numbers ----

void Decline(Interpretation& result, std::string_view what) {
  result.group.meaning = Meaning::kNone;
  result.group.reason = fmt::format(
      "not sure: it could be YOLO's boxes, but {}; --show yolov5, yolov8, yolov10 or yolox shows it so", what);
}

// What positions are divided by: those of a picture full of cells reach beyond 2 pixels.
struct Unit {
  float x = 1, y = 1;
};
Unit UnitOf(Interpretation& result, float highest) {
  const bool are_fractions = highest <= 2;
  result.group.reason += fmt::format("; positions are {}, as their values show",
                                     are_fractions ? "fractions of the picture" : "pixels of the input");
  if (are_fractions) return {};
  return {static_cast<float>(result.group.input_width), static_cast<float>(result.group.input_height)};
}

void AddBox(Interpretation& result, Box box) {
  const bool is_finite = std::isfinite(box.left + box.top) && std::isfinite(box.right + box.bottom);
  if (!is_finite || !(box.score >= result.min_score)) return;
  box.label = LabelOf(box.class_index, result.labels);
  result.boxes.push_back(std::move(box));
}

void DecodeListed(Interpretation& result) {
  const std::vector<float>& values = result.values[0];
  bool are_listed = true;
  float highest = 0, last_score = 1;
  for (size_t at = 0; at + kListedNumbers <= values.size(); at += kListedNumbers) {
    const float* row = values.data() + at;
    are_listed &= row[4] >= 0 && row[4] <= last_score && row[5] >= 0 && row[5] == std::floor(row[5]);
    are_listed &= row[2] >= row[0] && row[3] >= row[1];
    last_score = row[4];
    highest = std::max({highest, row[2], row[3]});
  }
  if (!are_listed && !result.group.is_asked_for)
    return Decline(result, "the rows are not corners, falling scores and classes");
  const Unit unit = UnitOf(result, highest);
  for (size_t at = 0; at + kListedNumbers <= values.size(); at += kListedNumbers) {
    const float* row = values.data() + at;
    AddBox(result,
           {IndexOf(row[5]), "", row[4], row[0] / unit.x, row[1] / unit.y, row[2] / unit.x, row[3] / unit.y, {}});
  }
}

// The stride and place of each row's cell, in the order of YOLOX's grids: row by row, small strides first.
struct Cell {
  float x = 0, y = 0, stride = 1;
};
std::vector<Cell> CellsOf(const YoloShape& shape, int height, int width) {
  std::vector<Cell> cells;
  for (const int stride : shape.strides) {
    for (int y = 0; y < height / stride; ++y) {
      for (int x = 0; x < width / stride; ++x)
        cells.push_back({static_cast<float>(x), static_cast<float>(y), static_cast<float>(stride)});
    }
  }
  return cells;
}

}  // namespace

std::optional<Layout> YoloLayoutOf(const Outputs& outputs, size_t k, std::optional<Layout> wish) {
  const auto [height, width] = outputs.PictureSize();
  const std::optional<YoloShape> shape = YoloShapeOf(outputs.shape(k), height, width);
  if (!shape || (wish && !IsYolo(*wish))) return std::nullopt;
  const bool is_listed = !shape->is_transposed && shape->numbers == kListedNumbers;
  if (!wish) {
    if (const auto certain = CertainLayout(*shape, 0, outputs.LabelCount(k))) return certain;
    wish = is_listed && shape->per_cell == 0             ? Layout::kYoloListed
           : shape->is_transposed || shape->numbers == 5 ? Layout::kYoloScores
                                                         : Layout::kYoloObjectness;
  }
  const bool fits = *wish == Layout::kYoloScores   ? true
                    : *wish == Layout::kYoloListed ? is_listed
                    : *wish == Layout::kYoloCells  ? shape->numbers > 5 && shape->per_cell == 1
                                                   : shape->numbers > 5;
  return fits ? wish : std::nullopt;
}

std::optional<ResultGroup> FindYolo(const Outputs& outputs) {
  const auto [height, width] = outputs.PictureSize();
  const auto head = outputs.FirstFree([&, height = height, width = width](size_t k) {
    const std::optional<YoloShape> shape = YoloShapeOf(outputs.shape(k), height, width);
    return shape && (shape->per_cell > 0 || outputs.HasShape(k, {1, 300, kListedNumbers}));
  });
  if (!head) return std::nullopt;
  const YoloShape shape = *YoloShapeOf(outputs.shape(*head), height, width);
  ResultGroup group{Meaning::kBoxes, Layout::kYoloObjectness, "", {*head}};
  if (shape.per_cell == 0) {
    group.layout = Layout::kYoloListed;
    group.reason = "300 times corners, score and class, as YOLO v10 gives them";
    return group;
  }
  const auto masks = outputs.FirstFree([&, height = height, width = width](size_t k) {
    return outputs.HasShape(k, {1, height / 4, width / 4, -1}) && outputs.shape(k)[3] > 1 &&
           shape.numbers > 4 + static_cast<size_t>(outputs.shape(k)[3]);
  });
  if (masks) group.outputs.push_back(*masks);
  const std::string rows = fmt::format("{} rows of {} numbers, {} for each cell of the grids with strides {}",
                                       shape.rows, shape.numbers, shape.per_cell, fmt::join(shape.strides, ", "));
  const size_t coefficients = masks ? static_cast<size_t>(outputs.shape(*masks)[3]) : 0;
  if (const auto layout = CertainLayout(shape, coefficients, outputs.LabelCount(*head))) {
    group.layout = *layout;
    group.reason = fmt::format("{}, are YOLO's: a box, {}the classes' scores", rows,
                               *layout == Layout::kYoloObjectness ? "an objectness and " : "");
    return group;
  }
  group.meaning = Meaning::kNone;
  if (shape.numbers == 5) group.layout = Layout::kYoloScores;
  group.reason = fmt::format(
      "not sure: {}, could be YOLO's; --show yolov8 takes them for a box and scores, --show yolov5 for a box, "
      "objectness and scores, --show yolox for these relative to the cells",
      rows);
  return group;
}

void DecodeYolo(Interpretation& result) {
  ResultGroup& group = result.group;
  if (group.layout == Layout::kYoloListed) return DecodeListed(result);
  const std::optional<YoloShape> shape = YoloShapeOf(result.infos[0].shape, group.input_height, group.input_width);
  if (!shape) return;
  const auto at = [&, &values = result.values[0]](size_t row, size_t number) {
    return values[shape->is_transposed ? number * shape->rows + row : row * shape->numbers + number];
  };
  const size_t first = group.layout == Layout::kYoloScores ? 4 : 5;  // of the scores
  const size_t coefficients = result.infos.size() > 1 ? static_cast<size_t>(result.infos[1].shape.back()) : 0;
  const size_t end = shape->numbers > first + coefficients ? shape->numbers - coefficients : shape->numbers;

  float highest_centre = 0, least_size = 0;
  std::vector<float> scores;
  for (size_t k = 0; k < shape->rows; ++k) {
    highest_centre = std::max({highest_centre, at(k, 0), at(k, 1)});
    least_size = std::min({least_size, at(k, 2), at(k, 3)});
    for (size_t n = 4; n < end; ++n) scores.push_back(at(k, n));
  }
  // A size is never below 0, its logarithm in cells is for the small boxes among thousands. Rounding to 8 bits may take
  // a size of 0 slightly below.
  const bool is_below_0 = least_size < -0.05f, are_shares = AreShares(scores),
             is_unsure = group.meaning == Meaning::kNone;
  if (group.layout == Layout::kYoloObjectness && is_below_0 && shape->per_cell == 1) group.layout = Layout::kYoloCells;
  const bool is_by_cell = group.layout == Layout::kYoloCells;
  if (is_unsure && !(is_by_cell && are_shares)) return;
  if (is_unsure) {
    group.meaning = Meaning::kBoxes;
    group.reason = fmt::format("{} rows of {} numbers, one for each cell of the picture's grids, are YOLOX's",
                               shape->rows, shape->numbers);
  }
  if (!group.is_asked_for && !are_shares)
    return Decline(result, "numbers in the place of scores are not within 0 and 1");
  if (!group.is_asked_for && is_below_0 && !is_by_cell)
    return Decline(result, "numbers in the place of sizes are below 0");
  const auto longer_side = static_cast<float>(std::max(group.input_height, group.input_width));
  const float reach = highest_centre > 2 ? highest_centre / longer_side : highest_centre;
  if (!group.is_asked_for && !is_by_cell && (reach < 0.5f || reach > 1.5f))
    return Decline(result, "numbers in the place of centres do not fill the picture");

  std::vector<Cell> cells;
  if (is_by_cell) cells = CellsOf(*shape, group.input_height, group.input_width);
  if (is_by_cell) group.reason += "; positions are relative to the cells";
  const Unit unit = is_by_cell ? Unit{static_cast<float>(group.input_width), static_cast<float>(group.input_height)}
                               : UnitOf(result, highest_centre);
  const auto score_at = [&](size_t row, size_t n) { return are_shares ? at(row, n) : Sigmoid(at(row, n)); };
  for (size_t k = 0; k < shape->rows; ++k) {
    size_t best = first;
    for (size_t n = first + 1; n < end; ++n) best = at(k, n) > at(k, best) ? n : best;
    const float score = score_at(k, best) * (first == 5 ? score_at(k, 4) : 1);
    float x = at(k, 0), y = at(k, 1), width = at(k, 2), height = at(k, 3);
    if (is_by_cell) {
      const Cell& cell = cells[k];
      x = (x + cell.x) * cell.stride, y = (y + cell.y) * cell.stride;
      width = std::exp(width) * cell.stride, height = std::exp(height) * cell.stride;
    }
    AddBox(result, {best - first,
                    "",
                    score,
                    (x - width / 2) / unit.x,
                    (y - height / 2) / unit.y,
                    (x + width / 2) / unit.x,
                    (y + height / 2) / unit.y,
                    {}});
  }
  result.boxes = WithoutOverlaps(std::move(result.boxes), kMostOverlap);
  group.reason += fmt::format("; of a class's boxes that overlap by more than {} the best is kept", kMostOverlap);
}

}  // namespace hearth
