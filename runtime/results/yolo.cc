#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <span>
#include <utility>

#include "runtime/results/decoding.h"
#include "runtime/results/known_labels.h"
#include "runtime/results/yolo_form.h"
#include "runtime/results/yolo_rows.h"

namespace hearth {
namespace {

constexpr float kMostOverlap = 0.45f;  // YOLO v5's and YOLOX's own
// In strides. The middle box of a real v8 head lies 0.6 to 0.8 from its cell, none of v5 more than 1.5.
constexpr float kFarFromCell = 1.5f;
// Most cells have no object, so the middle one of a class's scores is close to 0.
constexpr float kHighMiddleScore = 0.3f;

void Decline(Interpretation& result, std::string_view what) {
  const std::vector<int32_t>& shape = result.infos[0].shape;
  const auto read = YoloShapeOf(shape, result.group.input_height, result.group.input_width);
  result.group.meaning = Meaning::kNone;
  result.group.reason = fmt::format("not sure: it could be YOLO's boxes, but {}; {} shows it so", what,
                                    WordsFor(read.value_or(YoloShape()), IsList(shape)));
}

// The middle one of all positions above 0 tells what they are: neither a few wild ones nor rows of zeros decide it.
bool AreFractions(float middle_position) {
  return middle_position <= 2;
}
YoloUnit UnitOf(const ResultGroup& group, float middle_position) {
  if (AreFractions(middle_position)) return {};
  return {static_cast<float>(group.input_width), static_cast<float>(group.input_height)};
}

void TellUnit(ResultGroup& group, float middle_position) {
  group.reason += fmt::format("; positions are {}, as their values show",
                              AreFractions(middle_position) ? "fractions of the picture" : "pixels of the input");
}

// The boxes of a head, and the row of each.
struct Found {
  const YoloRows& rows;
  YoloUnit unit;
  std::vector<Box> boxes;
  std::vector<size_t> rows_of;
  size_t left_out = 0;  // rows whose numbers are none of a box

  void Add(size_t row, Box box, const Interpretation& result) {
    const ResultGroup& group = result.group;
    left_out += std::isfinite(box.score) && box.score <= kHighestShare ? 0 : 1;
    if (!(box.score >= result.min_score && box.score <= kHighestShare)) return;
    const bool is_listed = group.layout == Layout::kYoloListed;
    if (group.layout == Layout::kYoloRotated || (is_listed && rows.tail() == 1))
      Turn(rows, row, group.input_height, group.input_width, box);
    if (!std::isfinite(box.left + box.top) || !std::isfinite(box.right + box.bottom)) {
      ++left_out;
      return;
    }
    const size_t of_pose = group.pose_points > 0 ? PoseNumbers(group) : kBodyNumbers;
    if (group.layout == Layout::kYoloPoses || (is_listed && rows.tail() == of_pose)) AddPoints(rows, row, unit, box);
    box.label = LabelOf(box.class_index, result.labels);
    boxes.push_back(std::move(box));
    rows_of.push_back(row);
  }
};

// Takes over the boxes at these places, and makes their masks.
void Keep(std::span<const size_t> places, Found& found, Interpretation& result) {
  if (found.left_out > 0)
    result.group.reason += fmt::format("; {} rows are left out, as their numbers are none of a box", found.left_out);
  std::vector<size_t> rows_of;
  for (const size_t k : places) {
    result.boxes.push_back(std::move(found.boxes[k]));
    rows_of.push_back(found.rows_of[k]);
  }
  if (result.infos.size() < 2) return;
  if (found.rows.tail() != static_cast<size_t>(result.infos[1].shape.back())) return;
  result.map = MasksOf(found.rows, rows_of, result);
  result.group.reason += "; each box has a mask";
}

void DecodeListed(Interpretation& result) {
  const auto numbers = static_cast<size_t>(result.infos[0].shape[2]);
  const YoloRows rows{.shape = {static_cast<size_t>(result.infos[0].shape[1]), numbers, false, 0, {}},
                      .values = result.values[0],
                      .end = kListedNumbers,
                      .point_numbers = PointNumbers(result.group)};
  const bool is_rotated = rows.tail() == 1;  // centre and size in place of the corners, and an angle
  bool are_listed = true;
  float last_score = 1;
  std::vector<float> positions;
  for (size_t k = 0; k < rows.shape.rows; ++k) {
    const float* row = rows.values.data() + k * numbers;
    are_listed &= row[4] >= 0 && row[4] <= last_score && IsClass(row[5]);
    are_listed &= is_rotated ? std::min(row[2], row[3]) >= 0 && IsAngle(row[6]) : row[2] >= row[0] && row[3] >= row[1];
    last_score = row[4];
    std::copy_if(row + 2, row + 4, std::back_inserter(positions), [](float position) { return position > 0; });
  }
  if (!are_listed && !result.group.is_asked_for)
    return Decline(result, "the rows are not boxes, falling scores and classes");
  const float middle_position = MiddleOf(std::move(positions));
  const YoloUnit unit = UnitOf(result.group, middle_position);
  TellUnit(result.group, middle_position);
  Found found{rows, unit, {}, {}, 0};
  for (size_t k = 0; k < rows.shape.rows; ++k) {
    const float* row = rows.values.data() + k * numbers;
    if (!IsClass(row[5])) {
      ++found.left_out;
      continue;
    }
    const float width = row[2], height = row[3];
    const float left = is_rotated ? row[0] - width / 2 : row[0], top = is_rotated ? row[1] - height / 2 : row[1];
    const float right = is_rotated ? left + width : row[2], bottom = is_rotated ? top + height : row[3];
    found.Add(k, {IndexOf(row[5]), "", row[4], left / unit.x, top / unit.y, right / unit.x, bottom / unit.y, {}},
              result);
  }
  Keep(BestFirst(found.boxes), found, result);
}

// The stride and place of each row's cell: row by row, small strides first. The rows of one cell are neighbours, or,
// `by_anchor`, those of a grid's first anchor come before those of its next.
struct Cell {
  float x = 0, y = 0, stride = 1;
};
std::vector<Cell> CellsOf(const YoloShape& shape, int height, int width, bool by_anchor) {
  std::vector<Cell> cells;
  for (const int stride : shape.strides) {
    const auto columns = static_cast<size_t>(width / stride), count = static_cast<size_t>(height / stride) * columns;
    for (size_t row = 0; row < count * shape.per_cell; ++row) {
      const size_t cell = by_anchor ? row % count : row / shape.per_cell;
      cells.push_back(
          {static_cast<float>(cell % columns), static_cast<float>(cell / columns), static_cast<float>(stride)});
    }
  }
  return cells;
}

// How many numbers of a row stand behind the scores.
size_t TailOf(const YoloShape& shape, Layout layout, const Interpretation& result) {
  if (layout == Layout::kYoloPoses && result.group.pose_points > 0) return PoseNumbers(result.group);
  if (layout == Layout::kYoloPoses) return shape.numbers - 4 - PoseClassCount(shape.numbers, result.labels.size());
  if (layout == Layout::kYoloRotated) return 1;
  return result.infos.size() > 1 ? static_cast<size_t>(result.infos[1].shape.back()) : 0;
}

YoloRows RowsOf(const YoloShape& shape, Layout layout, const Interpretation& result) {
  YoloRows head{.shape = shape, .values = result.values[0], .point_numbers = PointNumbers(result.group)};
  head.first_score = layout == Layout::kYoloObjectness || layout == Layout::kYoloCells ? 5 : 4;
  const size_t tail = TailOf(shape, layout, result);
  head.end = shape.numbers > head.first_score + tail ? shape.numbers - tail : shape.numbers;
  return head;
}

void Measure(YoloRows& head) {
  size_t below_0 = 0;
  std::vector<float> positions;
  for (size_t k = 0; k < head.shape.rows; ++k) {
    for (const float centre : {head.at(k, 0), head.at(k, 1)})
      if (centre > 0) positions.push_back(centre);
    below_0 += std::min(head.at(k, 2), head.at(k, 3)) < -0.05f ? 1 : 0;
  }
  head.are_shares = AreShares(head.Columns(4, head.end));
  head.middle_position = MiddleOf(std::move(positions));
  // A size is never below 0, its logarithm in cells is for the small boxes among thousands. Rounding may take a few
  // sizes slightly below.
  head.has_sizes_below_0 = below_0 * 100 >= head.shape.rows;
}

// Whether the middle one of all boxes lies near its cell. `unit`: of the centres, in pixels.
bool LieNear(const YoloRows& head, const std::vector<Cell>& cells, YoloUnit unit) {
  std::vector<float> distances;
  for (size_t k = 0; k < head.shape.rows; ++k) {
    const float x = head.at(k, 0) * unit.x / cells[k].stride, y = head.at(k, 1) * unit.y / cells[k].stride;
    const float distance = std::max(std::abs(x - cells[k].x), std::abs(y - cells[k].y));
    distances.push_back(std::isfinite(x + y) ? distance : std::numeric_limits<float>::infinity());
  }
  return MiddleOf(std::move(distances)) <= kFarFromCell;
}

// What speaks against boxes that nobody asked for; empty: nothing.
std::string_view Objection(const YoloRows& head, const ResultGroup& group) {
  if (!head.are_shares) return "numbers in the place of scores are not within 0 and 1";
  if (group.layout == Layout::kYoloCells) {
    const std::vector<Cell> own_places(head.shape.rows);
    return LieNear(head, own_places, YoloUnit{}) ? "" : "numbers in the place of centres lie far from the cells";
  }
  if (head.has_sizes_below_0) return "numbers in the place of sizes are below 0";
  const bool has_anchors = head.shape.per_cell > 1;  // v5's classes are scores of a cell that has an object
  if (!has_anchors && MiddleOf(head.Columns(head.end - 1, head.end)) > kHighMiddleScore)
    return "numbers in the place of the last scores are high in most cells, as angles are";
  const YoloUnit divisor = UnitOf(group, head.middle_position);
  const YoloUnit unit = {static_cast<float>(group.input_width) / divisor.x,
                         static_cast<float>(group.input_height) / divisor.y};
  for (const bool by_anchor : {false, true}) {
    if (LieNear(head, CellsOf(head.shape, group.input_height, group.input_width, by_anchor), unit)) return {};
  }
  return "numbers in the place of centres do not lie near the cells";
}

void AddBoxes(const YoloRows& head, Interpretation& result) {
  const ResultGroup& group = result.group;
  const auto pixels_x = static_cast<float>(group.input_width), pixels_y = static_cast<float>(group.input_height);
  std::vector<Cell> cells;
  if (group.layout == Layout::kYoloCells) cells = CellsOf(head.shape, group.input_height, group.input_width, false);
  const YoloUnit unit = cells.empty() ? UnitOf(group, head.middle_position) : YoloUnit{pixels_x, pixels_y};
  Found found{head, unit, {}, {}, 0};
  const auto score_at = [&](size_t k, size_t n) { return head.are_shares ? head.at(k, n) : Sigmoid(head.at(k, n)); };
  for (size_t k = 0; k < head.shape.rows; ++k) {
    size_t best = head.first_score;
    for (size_t n = best + 1; n < head.end; ++n) {
      if (head.at(k, n) > head.at(k, best) || std::isnan(head.at(k, best))) best = n;
    }
    const float score = score_at(k, best) * (head.first_score == 5 ? score_at(k, 4) : 1);
    float x = head.at(k, 0), y = head.at(k, 1), width = head.at(k, 2), height = head.at(k, 3);
    if (!cells.empty()) {
      const Cell& cell = cells[k];
      x = (x + cell.x) * cell.stride, y = (y + cell.y) * cell.stride;
      width = std::exp(width) * cell.stride, height = std::exp(height) * cell.stride;
    }
    found.Add(k,
              {best - head.first_score,
               "",
               score,
               (x - width / 2) / unit.x,
               (y - height / 2) / unit.y,
               (x + width / 2) / unit.x,
               (y + height / 2) / unit.y,
               {}},
              result);
  }
  Keep(WithoutOverlaps(found.boxes, kMostOverlap), found, result);
}

// Of a head that nobody asked for: what the numbers behind its scores say, if they are none of more classes.
void SettleTail(const YoloShape& shape, Interpretation& result) {
  ResultGroup& group = result.group;
  const size_t classes = result.labels.empty() ? kCocoClasses : result.labels.size();
  if (group.is_asked_for || shape.per_cell != 1 || result.infos.size() > 1 || shape.numbers == 4 + classes) return;
  if (group.layout == Layout::kYoloPoses && group.meaning == Meaning::kBoxes) return;  // the file says so
  const auto is = [&](Layout layout, bool (*fits)(const YoloRows&)) {
    return Allows(shape, false, layout) && fits(RowsOf(shape, layout, result));
  };
  const bool are_poses = is(Layout::kYoloPoses, HavePoints);
  if (!are_poses && !is(Layout::kYoloRotated, HaveAngles)) return;
  group.layout = are_poses ? Layout::kYoloPoses : Layout::kYoloRotated;
  group.meaning = Meaning::kBoxes;
  group.reason =
      fmt::format("{} rows of {} numbers, one for each cell of the picture's grids, are YOLO's: a box, scores and {}",
                  shape.rows, shape.numbers, are_poses ? "points near it" : "an angle");
}

}  // namespace

void DecodeYolo(Interpretation& result) {
  ResultGroup& group = result.group;
  if (group.layout == Layout::kYoloListed) return DecodeListed(result);
  const std::optional<YoloShape> shape = YoloShapeOf(result.infos[0].shape, group.input_height, group.input_width);
  if (!shape) return;
  SettleTail(*shape, result);
  YoloRows head = RowsOf(*shape, group.layout, result);
  Measure(head);
  const bool has_own_tail = group.layout == Layout::kYoloPoses || group.layout == Layout::kYoloRotated;
  const bool may_be_by_cell = group.layout == Layout::kYoloObjectness || (!group.is_asked_for && !has_own_tail);
  if (may_be_by_cell && head.has_sizes_below_0 && Allows(*shape, false, Layout::kYoloCells)) {
    group.layout = Layout::kYoloCells;
    head.first_score = 5;
  }
  const bool is_by_cell = group.layout == Layout::kYoloCells;
  if (group.meaning == Meaning::kNone) {  // the shape left it open
    if (!is_by_cell || !head.are_shares) return;
    group.meaning = Meaning::kBoxes;
    group.reason = fmt::format("{} rows of {} numbers, one for each cell of the picture's grids, are YOLOX's",
                               shape->rows, shape->numbers);
  }
  const std::string_view objection = group.is_asked_for ? std::string_view() : Objection(head, group);
  if (!objection.empty()) return Decline(result, objection);

  if (is_by_cell) group.reason += "; positions are relative to the cells";
  if (!is_by_cell) TellUnit(group, head.middle_position);
  GiveKnownLabels(head.end - head.first_score, group, result.labels);
  group.reason += fmt::format("; of a class's boxes that overlap by more than {} the best is kept", kMostOverlap);
  AddBoxes(head, result);
}

}  // namespace hearth
