// From box encodings and class scores to a short list of detections (TFLite's custom operator of object detectors).
#ifndef HEARTH_CORE_GRAPH_OPS_DETECTION_H_
#define HEARTH_CORE_GRAPH_OPS_DETECTION_H_

#include <algorithm>
#include <cstddef>
#include <span>

#include "core/graph/op_def.h"

namespace hearth {

// Corners in units of the image. Float as in TFLite: thresholds and equal scores are decided by these values.
struct CornerBox {
  float ymin = 0, xmin = 0, ymax = 0, xmax = 0;
  float area() const { return (ymax - ymin) * (xmax - xmin); }
};

// Intersection over union; 0 for boxes without area.
inline float OverlapOf(const CornerBox& a, const CornerBox& b) {
  const float area_a = a.area(), area_b = b.area();
  if (area_a <= 0 || area_b <= 0) return 0;
  const float height = std::max(std::min(a.ymax, b.ymax) - std::max(a.ymin, b.ymin), 0.0f);
  const float width = std::max(std::min(a.xmax, b.xmax) - std::max(a.xmin, b.xmin), 0.0f);
  const float shared = height * width;
  return shared / (area_a + area_b - shared);
}

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
