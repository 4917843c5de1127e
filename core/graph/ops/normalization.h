// Layer and instance normalization: mean 0 and variance 1 over some dimensions, then scale and offset per channel.
#ifndef HEARTH_CORE_GRAPH_OPS_NORMALIZATION_H_
#define HEARTH_CORE_GRAPH_OPS_NORMALIZATION_H_

#include "core/graph/op_def.h"

namespace hearth {

// The elements that are normalized together, as kernels see them: the channels of each pixel, or runs of neighbouring
// pixels, in one channel or a group of channels.
struct NormalizedRuns {
  bool over_channels = false;
  int64_t count = 1;   // runs of pixels; 1 with `over_channels`
  int64_t length = 1;  // in pixels; channels with `over_channels`
  int32_t group = 1;   // neighbouring channels that are normalized together

  int32_t group_slices() const { return group > 1 ? group / 4 : 0; }  // its texels in each pixel; 0: channels alone
};
// Nothing if the dimensions (without those of size 1) are neither the last one nor neighbours just before it.
std::optional<NormalizedRuns> NormalizedRunsOf(const Shape& shape, const MeanVarianceNormalization& norm);

// The reason why device kernels can't normalize tensors of this shape, if there is one.
std::optional<std::string> NormalizedShapeUnsupported(const Shape& shape, const MeanVarianceNormalization& norm);

}  // namespace hearth

#endif  // HEARTH_CORE_GRAPH_OPS_NORMALIZATION_H_
