// Boxes in pictures, for whatever removes those that overlap.
#ifndef HEARTH_CORE_GRAPH_OPS_BOXES_H_
#define HEARTH_CORE_GRAPH_OPS_BOXES_H_

#include <algorithm>

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

}  // namespace hearth

#endif  // HEARTH_CORE_GRAPH_OPS_BOXES_H_
