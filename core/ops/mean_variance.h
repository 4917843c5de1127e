// Layer and instance normalization: mean 0 and variance 1 over some dimensions, then a factor and an offset a channel.
#ifndef HEARTH_CORE_OPS_MEAN_VARIANCE_H_
#define HEARTH_CORE_OPS_MEAN_VARIANCE_H_

#include "core/op_table.h"

namespace hearth {

Status InferMeanVarianceNormalization(Graph& graph, const Node& node);
void ReferenceMeanVarianceNormalization(const Node& node, std::span<const ReferenceTensor* const> inputs,
                                        std::span<ReferenceTensor> outputs);

// What is normalized together, as kernels see it: the channels of each pixel, or runs of neighbouring pixels channel by
// channel.
struct NormalizedRuns {
  bool over_channels = false;
  int64_t count = 1;   // of runs of pixels; 1 with `over_channels`
  int64_t length = 1;  // in pixels; channels with `over_channels`
};
// Nothing where the dimensions (those of size 1 don't count) are neither the last one nor neighbours that end before
// it.
std::optional<NormalizedRuns> NormalizedRunsOf(const Shape& shape, uint32_t axes_mask);

// Whether device kernels can normalize `shape` over these dimensions; says why not.
std::optional<std::string> NormalizedDimensionsUnsupported(const Shape& shape, uint32_t axes_mask);
std::optional<std::string> MeanVarianceNormalizationUnsupported(const Graph& graph, const Node& node,
                                                                const DeviceInfo& device);
std::vector<KernelChoice> MeanVarianceNormalizationCandidates(const Node& node, const PlanBuilder& builder);
Status LowerMeanVarianceNormalization(const Node& node, PlanBuilder& builder);

}  // namespace hearth

#endif  // HEARTH_CORE_OPS_MEAN_VARIANCE_H_
