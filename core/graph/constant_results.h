// What a node makes where that is known before any run.
#ifndef HEARTH_CORE_GRAPH_CONSTANT_RESULTS_H_
#define HEARTH_CORE_GRAPH_CONSTANT_RESULTS_H_

#include <optional>
#include <vector>

#include "core/graph/graph.h"

namespace hearth {

// False for an absent operand.
bool HasNoElements(const Graph& graph, ValueId id);

// Whether an operand or a result of the node has no elements.
bool HasEmptyTensor(const Graph& graph, const Node& node);

// Takes out operands without elements that change nothing: parts of a concatenation, and an update of no elements.
void DropEmptyOperands(const Graph& graph, Node& node);

// One list of bytes per output; none where the results are not known, or cannot be had. Precondition of both: infer
// passed.
using ConstantResults = std::vector<std::vector<std::byte>>;
// Results that have no elements, and a product over none: known whatever the operands hold.
ConstantResults ResultsOfNothing(const Graph& graph, const Node& node);
// What the reference makes of operands that are all constant.
ConstantResults ResultsOfConstants(const Graph& graph, const Node& node);

// Infers the graph's shapes. Returns a copy without what takes or makes tensors without elements, which no device
// holds: their results are constants. Nothing where there is no such tensor.
Result<std::optional<Graph>> WithoutEmptyTensors(Graph& graph);

}  // namespace hearth

#endif  // HEARTH_CORE_GRAPH_CONSTANT_RESULTS_H_
