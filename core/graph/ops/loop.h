// A loop that only data end.
#ifndef HEARTH_CORE_GRAPH_OPS_LOOP_H_
#define HEARTH_CORE_GRAPH_OPS_LOOP_H_

#include "core/graph/loop_graphs.h"

namespace hearth {

// Its reference, which can fail, is part of EvaluateNode.
Status InferLoop(Graph& graph, const Node& node);

}  // namespace hearth

#endif  // HEARTH_CORE_GRAPH_OPS_LOOP_H_
