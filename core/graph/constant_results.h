// What a node makes where that is known before any run.
#ifndef HEARTH_CORE_GRAPH_CONSTANT_RESULTS_H_
#define HEARTH_CORE_GRAPH_CONSTANT_RESULTS_H_

#include <optional>
#include <vector>

#include "core/graph/graph.h"

namespace hearth {

// Whether the tensor has no elements. False for kNoValue, an absent operand.
bool HasNoElements(const Graph& graph, ValueId id);

// Whether an operand or a result of the node has no elements.
bool HasEmptyTensor(const Graph& graph, const Node& node);

// Takes out operands without elements that change nothing: parts of a concatenation, and an update of no elements.
void DropEmptyOperands(const Graph& graph, Node& node);

// The bytes of each output; empty where the results are not known. Precondition of both functions: infer has passed.
using ConstantResults = std::vector<std::vector<std::byte>>;
// Results that have no elements, and a product over none: known whatever the operands hold.
ConstantResults ResultsOfNothing(const Graph& graph, const Node& node);
// What the reference makes of operands that are all constant.
ConstantResults ResultsOfConstants(const Graph& graph, const Node& node);

// InferShapes for a graph that may have tensors without elements, which no device holds. Returns a copy of the graph
// without what takes or makes them: their results are constants. Nothing where there is no such tensor.
Result<std::optional<Graph>> WithoutEmptyTensors(Graph& graph);

}  // namespace hearth

#endif  // HEARTH_CORE_GRAPH_CONSTANT_RESULTS_H_
