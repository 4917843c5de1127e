// From box encodings and class scores to a short list of detections (TFLite's custom operator of object detectors).
#ifndef HEARTH_CORE_GRAPH_OPS_DETECTION_H_
#define HEARTH_CORE_GRAPH_OPS_DETECTION_H_

#include <cstddef>
#include <span>

#include "core/graph/op_def.h"

namespace hearth {

// Dense tensors of one picture. Anchors are in float64 in both forms, so that floats give the same boxes.
template <typename Real>
struct DetectionOperands {
  std::span<const Real> encodings, scores;
  std::span<const double> anchors;
  size_t boxes = 0, coordinates = 0, scores_per_box = 0;
};
template <typename Real>
struct DetectionResults {
  std::span<Real> boxes, categories, scores, count;
};

// Non-maximum suppression per class (regular) or of each box's best class (fast). Equal scores keep the order of their
// boxes. Entries beyond the number of detections are zero. float and double give the same detections: all decisions are
// made in float.
template <typename Real>
void DetectObjects(const DetectionPostProcess& op, const DetectionOperands<Real>& in,
                   const DetectionResults<Real>& out);

}  // namespace hearth

#endif  // HEARTH_CORE_GRAPH_OPS_DETECTION_H_
