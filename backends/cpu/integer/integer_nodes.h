// Nodes that compute on 8-bit quantized values in their stored form, without floats in between.
#ifndef HEARTH_BACKENDS_CPU_INTEGER_INTEGER_NODES_H_
#define HEARTH_BACKENDS_CPU_INTEGER_INTEGER_NODES_H_

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "backends/cpu/host/host_node.h"

namespace hearth {

// Which nodes of a program compute on quantized values in their stored form.
// One entry for each of `nodes`. True for nodes with integer kernels, and for nodes that only move bytes if most of
// these are made in stored form or come from outside. Nodes of values in `decides_indices` are computed in floats, as
// are those in `refused` (indices into graph.nodes()).
std::vector<bool> NodesInIntegers(const Graph& graph, std::span<const int> nodes,
                                  const std::vector<bool>& decides_indices, const std::set<int>& refused);

// Null for a node that must run in floats. Precondition: request.in_integers.
[[gnu::cold]] Result<std::unique_ptr<HostNode>> MakeIntegerNode(const HostNodeRequest& request);

// Whether the node only moves 8-bit numbers, with or without a table on the way: copies, concatenations, views,
// padding.
bool MovesBytes(const Graph& graph, const Node& node);

// Whether there are kernels for products of 8-bit integers on this machine.
bool MultipliesBytes();
// Exact sums of plain integers (ConvInteger), and floats in steps of their range (DynamicQuantize).
[[gnu::cold]] Result<std::unique_ptr<HostNode>> MakeIntegerSumsNode(const HostNodeRequest& request);
[[gnu::cold]] Result<std::unique_ptr<HostNode>> MakeDynamicQuantizeNode(const HostNodeRequest& request);

// The makers that MakeIntegerNode asks. Each returns null for a node that it does not take.
[[gnu::cold]] std::unique_ptr<HostNode> MakeIntegerMatrixNode(const HostNodeRequest& request);
[[gnu::cold]] std::unique_ptr<HostNode> MakeIntegerDepthwiseNode(const HostNodeRequest& request);
// A function of each element, quantization and dequantization included.
[[gnu::cold]] std::unique_ptr<HostNode> MakeIntegerUnaryNode(const HostNodeRequest& request);
[[gnu::cold]] std::unique_ptr<HostNode> MakeIntegerBinaryNode(const HostNodeRequest& request);
// Maxima and means of windows, and means over neighbouring dimensions.
[[gnu::cold]] std::unique_ptr<HostNode> MakeIntegerPoolNode(const HostNodeRequest& request);

// Between images of one grid.
[[gnu::cold]] std::unique_ptr<HostNode> MakeIntegerResizeNode(const HostNodeRequest& request);

// ---- Functions of one 8-bit number: a table of 256 ----

using ByteTable = std::array<uint8_t, 256>;

// A table from each stored byte of `in` to the stored byte of the function's result in `out`, rounded like the float64
// reference.
ByteTable TableOf(const TensorDesc& in, const TensorDesc& out, const Unary& function);

// The table of a function of 8 bits and 8 bits that has the bits of LiteRT; nullopt for other nodes.
std::optional<ByteTable> UnaryTableOf(const Graph& graph, const Node& node);

// A node that makes its output of operand `position` alone. `unread`: its other operand, or kNoValue.
std::unique_ptr<HostNode> MakeTableNode(const HostNodeRequest& request, const ByteTable& table, size_t position,
                                        ValueId unread);

void ApplyTable(const ByteTable& table, const uint8_t* x, uint8_t* y, int64_t count);

}  // namespace hearth

#endif  // HEARTH_BACKENDS_CPU_INTEGER_INTEGER_NODES_H_
