// What operations that move elements read, as views by strides.
#ifndef HEARTH_CORE_GRAPH_OPS_VIEW_OF_H_
#define HEARTH_CORE_GRAPH_OPS_VIEW_OF_H_

#include "core/graph/graph.h"
#include "core/graph/strided_view.h"

namespace hearth {

// The view of input 0 that output number `output` is, simplified, for reshape, transpose, slice, split, unpack, tile,
// broadcast_to, reverse, depth_to_space and space_to_depth; nothing for other operations. Precondition: infer passed.
std::optional<StridedView> ViewOf(const Graph& graph, const Node& node, size_t output);

}  // namespace hearth

#endif  // HEARTH_CORE_GRAPH_OPS_VIEW_OF_H_
