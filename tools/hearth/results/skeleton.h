// Names of key points and the limbs between them.
#ifndef HEARTH_TOOLS_HEARTH_RESULTS_SKELETON_H_
#define HEARTH_TOOLS_HEARTH_RESULTS_SKELETON_H_

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace hearth {

struct Skeleton {
  std::string_view name;  // "hand"
  size_t point_count = 0;
  std::span<const std::string_view> point_names;     // empty if points have numbers only
  std::span<const std::pair<size_t, size_t>> limbs;  // between two points; empty for a cloud of points
};

// By the number of points: 17 of a body (COCO), 21 of a hand, 468 of a face (MediaPipe); null for others.
const Skeleton* SkeletonOf(size_t point_count);

// The six points of a face that BlazeFace finds.
const Skeleton& FaceSkeleton();

// The point's name, or its number.
std::string PointName(const Skeleton* skeleton, size_t point);

}  // namespace hearth

#endif  // HEARTH_TOOLS_HEARTH_RESULTS_SKELETON_H_
