// Which points a network's key points are.
#ifndef HEARTH_RUNTIME_RESULTS_SKELETON_H_
#define HEARTH_RUNTIME_RESULTS_SKELETON_H_

#include <cstddef>

#include "hearth/results.h"

namespace hearth {

// By the number of points: 17 of a body (COCO), 21 of a hand, 468 of a face (MediaPipe); null for others.
const Skeleton* SkeletonOf(size_t point_count);

// The six points of a face that BlazeFace finds.
const Skeleton& FaceSkeleton();

}  // namespace hearth

#endif  // HEARTH_RUNTIME_RESULTS_SKELETON_H_
