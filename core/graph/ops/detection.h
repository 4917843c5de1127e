// From box encodings and class scores to a short list of detections (TFLite's custom operator of object detectors).
#ifndef HEARTH_CORE_GRAPH_OPS_DETECTION_H_
#define HEARTH_CORE_GRAPH_OPS_DETECTION_H_

#include "core/graph/op_def.h"

namespace hearth {

Status InferDetectionPostProcess(Graph& graph, const Node& node);
// Non-maximum suppression of the classes one by one (regular) or of each box's best class (fast). Equal scores keep
// the order of their boxes. Entries beyond the number of detections are zero.
void ReferenceDetectionPostProcess(const Node& node, std::span<const ReferenceTensor* const> inputs,
                                   std::span<ReferenceTensor> outputs);

}  // namespace hearth

#endif  // HEARTH_CORE_GRAPH_OPS_DETECTION_H_
