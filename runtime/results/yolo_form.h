// YOLO heads: a row for each cell of the picture's grids, or a list of boxes. What a head is, by its shape, its labels
// and what the file says; its values may say otherwise.
#ifndef HEARTH_RUNTIME_RESULTS_YOLO_FORM_H_
#define HEARTH_RUNTIME_RESULTS_YOLO_FORM_H_

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hearth/results.h"
#include "runtime/results/output_facts.h"
#include "runtime/results/yolo_rows.h"

namespace hearth {

// The words by which a user asks for these layouts; all are boxes.
inline constexpr std::pair<std::string_view, Layout> kYoloWords[] = {
    {"yolov5", Layout::kYoloObjectness}, {"yolov8", Layout::kYoloScores},     {"yolov10", Layout::kYoloListed},
    {"yolox", Layout::kYoloCells},       {"yolov8-pose", Layout::kYoloPoses}, {"yolov8-obb", Layout::kYoloRotated}};

inline bool IsYolo(Layout layout) {
  return std::ranges::any_of(kYoloWords, [&](const auto& named) { return named.second == layout; });
}

// An output with as many rows as the picture's grids have cells; without a meaning, but with a layout, if its shape and
// labels leave open which head it is. The coefficients of masks ([1,h,w,M] beside it) are no classes.
std::optional<ResultGroup> FindYolo(const Outputs& outputs);

// Whether an output can be read so. Without a wish: the likeliest layout that it allows.
std::optional<Layout> YoloLayoutOf(const Outputs& outputs, size_t k, std::optional<Layout> wish);

// Fills in the boxes, with points, turned or with masks if the head has these, and what the values say of them. A
// result that nobody asked for loses its meaning if they contradict its layout; one that was not sure becomes YOLOX's
// if sizes are below 0, which only logarithms are, and a pose's or a rotated box's if the numbers behind its scores are
// such.
void DecodeYolo(Interpretation& result);

// ---- What yolo.cc and yolo_form.cc share ----

// Of rows of a list: four positions, a score and a class.
constexpr size_t kListedNumbers = 6;
constexpr size_t kCocoClasses = 80, kBodyNumbers = 17 * kPointNumbers;

// Whether rows of this form can have the layout.
bool Allows(const YoloShape& shape, bool is_list, Layout layout);

// Boxes, alone, with an angle or with a pose.
bool IsList(const std::vector<int32_t>& shape);

// "--show yolov5 or --show yolov8": the words that an output of this shape takes.
std::string WordsFor(const YoloShape& shape, bool is_list);

// How many numbers the points of a pose have, as the file says; 0 if it says nothing.
template <typename Said>  // ModelMetadata or ResultGroup
size_t PoseNumbers(const Said& said) {
  return static_cast<size_t>(said.pose_points) * static_cast<size_t>(said.pose_numbers);
}

// How many numbers each of them has; three if the file says nothing.
inline size_t PointNumbers(const ResultGroup& group) {
  return group.pose_points > 0 ? static_cast<size_t>(group.pose_numbers) : kPointNumbers;
}

}  // namespace hearth

#endif  // HEARTH_RUNTIME_RESULTS_YOLO_FORM_H_
