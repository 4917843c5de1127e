// Bilinear and nearest-neighbor resizing of images, NHWC.
#ifndef HEARTH_CORE_GRAPH_OPS_RESIZE_H_
#define HEARTH_CORE_GRAPH_OPS_RESIZE_H_

#include "core/graph/op_def.h"

namespace hearth {

Status InferResize(Graph& graph, const Node& node);
void ReferenceResize(const Node& node, std::span<const ReferenceTensor* const> inputs,
                     std::span<ReferenceTensor> outputs);

// The input row or column that is nearest to output `out`. In float32 as in TFLite: the choice of a pixel is not
// continuous, so more digits would give another result.
int64_t NearestPixel(const Resize& resize, int64_t out, int64_t out_size, int64_t in_size);

}  // namespace hearth

#endif  // HEARTH_CORE_GRAPH_OPS_RESIZE_H_
