// Heads of the YOLO family: a row of numbers for each cell of the picture's grids, or a list of boxes.
#ifndef HEARTH_RUNTIME_RESULTS_YOLO_H_
#define HEARTH_RUNTIME_RESULTS_YOLO_H_

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "hearth/results.h"
#include "runtime/results/output_facts.h"

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

}  // namespace hearth

#endif  // HEARTH_RUNTIME_RESULTS_YOLO_H_
