// Everything that core knows about an operation, one row each. The rows stand in
// op_table.cc; their functions in ops/, one file per family.
#ifndef HEARTH_CORE_OP_TABLE_H_
#define HEARTH_CORE_OP_TABLE_H_

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/device_info.h"
#include "core/graph.h"
#include "core/kernel_choice.h"

namespace hearth {

class PlanBuilder;  // core/lower.h

// A tensor as the reference sees it: every element type widened to double (exact for float32,
// float16, all 8- to 32-bit integers and int64 up to 2^53).
struct ReferenceTensor {
  Shape shape;
  std::vector<double> values;  // C order
  // The type of plain integers, set by ReferenceFromBytes and for outputs by EvaluateNode: results wrap and divisions
  // truncate as those of the type do.
  std::optional<DType> integers = std::nullopt;
};

struct OpDef {
  std::string_view name;  // in graph texts and reports: "conv_2d"

  // Sets the descriptions of the node's outputs from those of its inputs; checks ranks, types and
  // attributes. An error names the op and what is wrong.
  Status (*infer)(Graph& graph, const Node& node);

  // The value of the operation in float64, per TFLite's CPU interpreter. Absent optional inputs are
  // null. `outputs` come with their shapes set and values sized. Inputs are valid (infer passed).
  void (*reference)(const Node& node, std::span<const ReferenceTensor* const> inputs,
                    std::span<ReferenceTensor> outputs);

  // Why `device` can't run this node; nothing when it can. Null: no device kernel at all.
  std::optional<std::string> (*unsupported)(const Graph& graph, const Node& node, const DeviceInfo& device);

  // Appends the node's dispatches. Precondition: `unsupported` gave nothing.
  Status (*lower)(const Node& node, PlanBuilder& builder);

  // The ways in which `lower` can run the node on this device; the first is what rules choose. Null: one way.
  std::vector<KernelChoice> (*candidates)(const Node& node, const PlanBuilder& builder) = nullptr;
};

// The error for a node that nothing here can run: names operator, index and what to do.
Status UnknownOperation(const Node& node);
const OpDef& OpDefOf(const Op& op);
// "conv_2d", "relu6" (a unary op by its kind), or the unknown operator's own name.
std::string OpName(const Op& op);

// Runs infer over all nodes in order, and compares what states hold with what they become.
Status InferShapes(Graph& graph);

// Evaluates one node, or the whole graph, in float64. `inputs` follow node.inputs / graph.inputs.
// The result of each node is rounded to its value's type, as a device would store it.
Result<std::vector<ReferenceTensor>> EvaluateNode(const Graph& graph, const Node& node,
                                                  std::span<const ReferenceTensor* const> inputs);
// `states` follow graph.states: what they hold before the run, and after it what they hold then; empty or null
// means real zeros.
Result<std::vector<ReferenceTensor>> EvaluateGraph(const Graph& graph, std::span<const ReferenceTensor> inputs,
                                                   std::vector<ReferenceTensor>* states = nullptr);

// A dense host tensor to doubles and back; quantized types are dequantized and quantized
// (round half away from zero, clamped to the type's range).
Result<ReferenceTensor> ReferenceFromBytes(const TensorDesc& desc, std::span<const std::byte> bytes);
// What a tensor of real zeros stores: its zero point where it is quantized.
Result<std::vector<std::byte>> BytesOfZeros(const TensorDesc& desc);
Status ReferenceToBytes(const ReferenceTensor& tensor, const TensorDesc& desc, std::span<std::byte> bytes);

}  // namespace hearth

#endif  // HEARTH_CORE_OP_TABLE_H_
