// Many small models as one network, so that one plan and few programs run them all.
#ifndef HEARTH_TESTS_ORACLE_MERGED_MODEL_H_
#define HEARTH_TESTS_ORACLE_MERGED_MODEL_H_

#include <span>

#include "core/graph/graph.h"
#include "hearth/model.h"

namespace hearth::oracle {

// The graphs side by side: they share no value. Inputs and outputs are those of the first graph, then of the second,
// and so on; Node::source_index is the index of the node's graph. Constants stay borrowed, so what the graphs borrow
// from outlives the model, and so do the graphs.
Model MergeGraphs(std::span<const Graph* const> graphs);

}  // namespace hearth::oracle

#endif  // HEARTH_TESTS_ORACLE_MERGED_MODEL_H_
