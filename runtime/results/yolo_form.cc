#include "runtime/results/yolo_form.h"

#include <fmt/ranges.h>

#include "core/base/contains.h"

namespace hearth {
namespace {

// Three rows in a cell are those of v5's anchors. In one row a cell, the number of labels says whether there is an
// objectness; without labels COCO's 80 classes do; numbers before rows are v8's order. 51 numbers beside a box and a
// score may be the 17 points of a pose.
std::optional<Layout> CertainLayout(const YoloShape& shape, size_t coefficients, size_t label_count) {
  if (shape.per_cell == 0 || shape.numbers < 5 + coefficients) return std::nullopt;
  const size_t scores = shape.numbers - 4 - coefficients, classes = label_count > 0 ? label_count : kCocoClasses;
  const bool is_of_v8 = shape.is_transposed && shape.per_cell == 1 && label_count == 0;
  if (is_of_v8 && scores == kBodyNumbers + 1) return std::nullopt;
  if (scores == classes + 1 && !is_of_v8) return Layout::kYoloObjectness;
  if (shape.per_cell == 3) return scores >= 2 ? std::optional(Layout::kYoloObjectness) : std::nullopt;
  if (scores == classes || shape.is_transposed) return Layout::kYoloScores;
  return std::nullopt;
}

// The prototypes of masks beside a head whose rows have so many numbers: [1,h,w,M] with fewer coefficients than these.
std::optional<size_t> FindPrototypes(const Outputs& outputs, size_t numbers) {
  const auto [height, width] = outputs.PictureSize();
  return outputs.FirstFree([&, height = height, width = width](size_t k) {
    return outputs.HasShape(k, {1, height / 4, width / 4, -1}) && outputs.shape(k)[3] > 1 &&
           numbers > 4 + static_cast<size_t>(outputs.shape(k)[3]);
  });
}

// A list, or one with coefficients of masks.
bool IsListed(const Outputs& outputs, size_t k) {
  const std::vector<int32_t>& shape = outputs.shape(k);
  if (IsList(shape)) return true;
  if (shape.size() != 3 || shape[0] != 1 || shape[1] <= 0 || shape[2] <= static_cast<int32_t>(kListedNumbers))
    return false;
  const auto masks = FindPrototypes(outputs, static_cast<size_t>(shape[2]));
  return masks && shape[2] == static_cast<int32_t>(kListedNumbers) + outputs.shape(*masks)[3];
}

// The group of output `k`, a head of this form or a list, if the file says that it is one.
std::optional<ResultGroup> ToldGroup(const Outputs& outputs, size_t k, const YoloShape& shape) {
  const ModelMetadata& metadata = outputs.metadata();
  ResultGroup group{Meaning::kBoxes,      Layout::kYoloScores,  "", {k}, 0, 0, false,
                    metadata.pose_points, metadata.pose_numbers};
  size_t tail = 0;  // numbers behind the scores of a row
  if (metadata.task == "obb") {
    group.layout = Layout::kYoloRotated;
    tail = 1;
  } else if (metadata.task == "pose" && metadata.pose_points > 0) {
    group.layout = Layout::kYoloPoses;
    tail = PoseNumbers(metadata);
  } else if (metadata.task == "segment") {
    const auto masks = FindPrototypes(outputs, shape.numbers);
    if (!masks) return std::nullopt;
    group.outputs.push_back(*masks);
    tail = static_cast<size_t>(outputs.shape(*masks)[3]);
  } else if (metadata.task != "detect") {
    return std::nullopt;
  }
  if (shape.per_cell == 0) group.layout = Layout::kYoloListed;
  const bool fits = shape.per_cell == 0 ? shape.numbers == kListedNumbers + tail : shape.numbers > 4 + tail;
  if (!fits || shape.per_cell > 1) return std::nullopt;
  group.reason = fmt::format("{} rows of {} numbers of a YOLO for '{}', as the file's metadata say", shape.rows,
                             shape.numbers, metadata.task);
  return group;
}

// The first output of which the file's metadata say that it is a head, or a list of any number of rows.
std::optional<ResultGroup> FindTold(const Outputs& outputs) {
  const auto [height, width] = outputs.PictureSize();
  for (size_t k = 0; k < outputs.count(); ++k) {
    if (!outputs.is_free(k) || !outputs.HasShape(k, {1, -1, -1})) continue;
    const std::vector<int32_t>& shape = outputs.shape(k);
    const std::optional<YoloShape> head = YoloShapeOf(shape, height, width);
    const YoloShape list{static_cast<size_t>(shape[1]), static_cast<size_t>(shape[2]), false, 0, {}};
    if (auto told = ToldGroup(outputs, k, head && head->per_cell > 0 ? *head : list)) return told;
  }
  return std::nullopt;
}

}  // namespace

bool Allows(const YoloShape& shape, bool is_list, Layout layout) {
  switch (layout) {
    case Layout::kYoloScores: return true;
    case Layout::kYoloListed: return is_list;
    case Layout::kYoloCells: return shape.numbers > 5 && shape.per_cell == 1;
    case Layout::kYoloPoses: return shape.numbers > 5 + kPointNumbers && shape.per_cell <= 1;
    case Layout::kYoloRotated: return shape.numbers > 5 && shape.per_cell <= 1;
    default: return shape.numbers > 5;
  }
}

bool IsList(const std::vector<int32_t>& shape) {
  if (shape.size() != 3 || shape[0] != 1 || shape[1] <= 0) return false;
  constexpr size_t kNumbers[] = {kListedNumbers, kListedNumbers + 1, kListedNumbers + kBodyNumbers};
  return Contains(kNumbers, static_cast<size_t>(shape[2]));
}

std::string WordsFor(const YoloShape& shape, bool is_list) {
  std::string words;
  for (const auto& [word, layout] : kYoloWords) {
    if (Allows(shape, is_list, layout)) words += fmt::format("{}--show {}", words.empty() ? "" : " or ", word);
  }
  return words;
}

std::optional<Layout> YoloLayoutOf(const Outputs& outputs, size_t k, std::optional<Layout> wish) {
  const auto [height, width] = outputs.PictureSize();
  const bool is_listed = IsListed(outputs, k);
  if (is_listed && wish == Layout::kYoloListed) return wish;
  const std::optional<YoloShape> shape = YoloShapeOf(outputs.shape(k), height, width);
  if (!shape || (wish && !IsYolo(*wish))) return std::nullopt;
  if (!wish) {
    if (const auto certain = CertainLayout(*shape, 0, outputs.LabelCount(k))) return certain;
    wish = is_listed && shape->per_cell == 0             ? Layout::kYoloListed
           : shape->is_transposed || shape->numbers == 5 ? Layout::kYoloScores
                                                         : Layout::kYoloObjectness;
  }
  return Allows(*shape, is_listed, *wish) ? wish : std::nullopt;
}

std::optional<ResultGroup> FindYolo(const Outputs& outputs) {
  if (const std::optional<ResultGroup> told = FindTold(outputs)) return told;
  const auto [height, width] = outputs.PictureSize();
  const auto head = outputs.FirstFree([&, height = height, width = width](size_t k) {
    const std::optional<YoloShape> shape = YoloShapeOf(outputs.shape(k), height, width);
    return shape && (shape->per_cell > 0 || (outputs.HasShape(k, {1, 300, -1}) && IsListed(outputs, k)));
  });
  if (!head) return std::nullopt;
  const YoloShape shape = *YoloShapeOf(outputs.shape(*head), height, width);
  const auto rows_count = static_cast<int32_t>(shape.rows);
  const auto boxes = outputs.FirstFree([&](size_t k) {
    return outputs.HasShape(k, {1, rows_count, 4}) || outputs.HasShape(k, {1, 4, rows_count});
  });
  if (boxes) return std::nullopt;  // the scores of a head whose boxes are an output of their own
  ResultGroup group{Meaning::kBoxes, Layout::kYoloObjectness, "", {*head}};
  if (shape.per_cell == 0) {
    group.layout = Layout::kYoloListed;
    group.reason = "300 times a box, score and class, as YOLO v10 gives them";
  }
  const auto masks = FindPrototypes(outputs, shape.numbers);
  if (masks) group.outputs.push_back(*masks);
  if (shape.per_cell == 0) return group;
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
  if (shape.numbers == 5 + kBodyNumbers) group.layout = Layout::kYoloPoses;
  group.reason = fmt::format(
      "not sure: {}, could be YOLO's, a box and scores (yolov8), with an objectness (yolov5), or those relative to the "
      "cells (yolox); {} decides",
      rows, WordsFor(shape, IsList(outputs.shape(*head))));
  return group;
}

}  // namespace hearth
