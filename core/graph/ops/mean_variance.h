// Layer and instance normalization: mean 0 and variance 1 over some dimensions, then a factor and an offset a channel.
#ifndef HEARTH_CORE_GRAPH_OPS_MEAN_VARIANCE_H_
#define HEARTH_CORE_GRAPH_OPS_MEAN_VARIANCE_H_

#include "core/graph/op_def.h"

namespace hearth {

Status InferMeanVarianceNormalization(Graph& graph, const Node& node);
void ReferenceMeanVarianceNormalization(const Node& node, std::span<const ReferenceTensor* const> inputs,
                                        std::span<ReferenceTensor> outputs);

// What is normalized together, as kernels see it: the channels of each pixel, or runs of neighbouring pixels, of one
// channel or of a group of them.
struct NormalizedRuns {
  bool over_channels = false;
  int64_t count = 1;         // of runs of pixels; 1 with `over_channels`
  int64_t length = 1;        // in pixels; channels with `over_channels`
  int32_t group_slices = 0;  // groups of so many texels a pixel; 0: channel by channel
};
// Nothing where the dimensions (those of size 1 don't count) are neither the last one nor neighbours that end before
// it, or where groups of channels don't fill texels.
std::optional<NormalizedRuns> NormalizedRunsOf(const Shape& shape, const MeanVarianceNormalization& norm);

// Whether device kernels can normalize tensors of this shape; says why not.
std::optional<std::string> NormalizedShapeUnsupported(const Shape& shape, const MeanVarianceNormalization& norm);

}  // namespace hearth

#endif  // HEARTH_CORE_GRAPH_OPS_MEAN_VARIANCE_H_
