// Nodes that compute on 8-bit quantized values in their stored form, without floats in between.
#ifndef HEARTH_BACKENDS_CPU_INTEGER_INTEGER_NODES_H_
#define HEARTH_BACKENDS_CPU_INTEGER_INTEGER_NODES_H_

#include <memory>

#include "backends/cpu/host_node.h"

namespace hearth {

// Null for a node that must run in floats. Precondition: request.in_integers.
Result<std::unique_ptr<HostNode>> MakeIntegerNode(const HostNodeRequest& request);

// Whether the node only moves 8-bit numbers, with or without a table on the way: copies, concatenations, views,
// padding.
bool MovesBytes(const Graph& graph, const Node& node);

// The makers that MakeIntegerNode asks. Each returns null for a node that it does not take.
std::unique_ptr<HostNode> MakeIntegerMatrixNode(const HostNodeRequest& request);
std::unique_ptr<HostNode> MakeIntegerDepthwiseNode(const HostNodeRequest& request);
// A function of each element, quantization and dequantization included.
std::unique_ptr<HostNode> MakeIntegerUnaryNode(const HostNodeRequest& request);
std::unique_ptr<HostNode> MakeIntegerBinaryNode(const HostNodeRequest& request);
// Maxima and means of windows, and means over neighbouring dimensions.
std::unique_ptr<HostNode> MakeIntegerPoolNode(const HostNodeRequest& request);

// Between images of one grid.
std::unique_ptr<HostNode> MakeIntegerResizeNode(const HostNodeRequest& request);

}  // namespace hearth

#endif  // HEARTH_BACKENDS_CPU_INTEGER_INTEGER_NODES_H_
