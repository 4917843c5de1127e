// Which points a network's key points are.
#ifndef HEARTH_RUNTIME_RESULTS_SKELETON_H_
#define HEARTH_RUNTIME_RESULTS_SKELETON_H_

#include <cstddef>

#include "hearth/results.h"

namespace hearth {

// By the number of points: 17 of a body (COCO), 33 of a body, 21 of a hand, 468 or 478 of a face (MediaPipe); null for
// others.
const Skeleton* SkeletonOf(size_t point_count);

// Of the points that MediaPipe's detectors give with a box: 6 of a face, 7 of a palm, 4 of a person; null for others.
const Skeleton* BoxSkeletonOf(size_t point_count);

// The corners of a rotated box, in order around it.
const Skeleton* CornersSkeleton();

}  // namespace hearth

#endif  // HEARTH_RUNTIME_RESULTS_SKELETON_H_
