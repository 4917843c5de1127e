// Everything that core knows about an operation, one row each.
//
// The rows are in lowering/op_table.cc, because a row also names the operation's lowering functions. The graph room
// uses only a row's name, `infer` and `reference`.
#ifndef HEARTH_CORE_GRAPH_OP_DEF_H_
#define HEARTH_CORE_GRAPH_OP_DEF_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/device/device_info.h"
#include "core/device/kernel_choice.h"
#include "core/graph/graph.h"

namespace hearth {

class PlanBuilder;  // core/plan/plan_builder.h

// A tensor of the reference: every element type is widened to double (exact for float32, float16, all 8- to 32-bit
// integers, and 64-bit integers up to 2^53).
struct ReferenceTensor {
  Shape shape;
  std::vector<double> values;  // C order
  // The type of plain integers, set by ReferenceFromBytes and for outputs by EvaluateNode. Results wrap and divisions
  // truncate as in that type.
  std::optional<DType> integers = std::nullopt;
};

// How many operands a node has.
struct OperandCounts {
  size_t required = 0, optional = 0, outputs = 1;
  bool depend_on_node = false;  // the infer function checks them itself
};
inline constexpr size_t kAnyNumber = SIZE_MAX / 2;  // for OperandCounts::optional

class NodeInference;  // core/graph/ops/node_inference.h
// Sets the descriptions of the node's outputs from those of its inputs, and checks ranks, types and attributes. An
// error names the operation and the problem. Precondition: NodeInference::CheckOperands passed.
using InferFunction = Status(const NodeInference& inference);
// Computes the operation in float64, with the semantics of TFLite's CPU interpreter. Absent optional inputs are null.
// The shapes of `outputs` are set and their values sized. Inputs are valid (infer passed).
using ReferenceInputs = std::span<const ReferenceTensor* const>;
using ReferenceOutputs = std::span<ReferenceTensor>;
using ReferenceFunction = void(const Node& node, ReferenceInputs inputs, ReferenceOutputs outputs);
// Facts that are determined once for all nodes of a graph.
struct Placing {
  const DeviceInfo& device;
  // By value: whether its numbers are known to fit into 32 bits, the size of a device's integers. Indices, class
  // numbers and values moved from them do; int64 inputs and calculated int64 do not.
  std::vector<bool> fits_32_bits;
};
// Says why the device can't run this node; nullopt when it can.
using UnsupportedFunction = std::optional<std::string>(const Graph& graph, const Node& node, const Placing& placing);
// Appends the node's dispatches. Precondition: UnsupportedFunction returned nullopt.
using LowerFunction = Status(const Node& node, PlanBuilder& builder);
// The candidate kernels for the node on this device; rules choose the first.
using CandidatesFunction = std::vector<KernelChoice>(const Node& node, const PlanBuilder& builder);
// Estimates how many loop iterations over data one work item makes in all.
using LoopIterationsFunction = int64_t(const Graph& graph, const Node& node);

// Facts about an operation, one bit each.
enum OpTraits : unsigned {
  kPlain = 0,
  // Every element of an output is an element of an input, or 0, so integers stay exact.
  kMovesElements = 1,
  // The result holds indices that depend on comparing elements, so a rounding may change them a lot.
  kChoosesIndices = 2,
  // Constant operands (filters and biases) may be stored in another type than the other operands.
  kTakesStoredConstants = 4,
  // Needs many calculations per element: such nodes over constants are not evaluated while a model is read.
  kCostly = 8,
  // Takes and makes tensors without elements in any dimension. Other operations take an empty first operand, and empty
  // batches (dimension 0) of others, if all their results are empty.
  kTakesEmpty = 16,
  // Results stay float32 in every precision: class numbers and corners, which would lose digits in 16 bits.
  kFloat32Results = 32,
};

struct OpDef {
  size_t index;           // in the Op variant
  std::string_view name;  // in graph texts and reports: "conv_2d"
  OperandCounts operands;
  InferFunction* infer_checked;
  ReferenceFunction* reference;      // null: nothing can run it, except loops, which EvaluateNode runs
  UnsupportedFunction* unsupported;  // null: no device kernel at all
  LowerFunction* lower;
  CandidatesFunction* candidates;  // null: one kernel
  LoopIterationsFunction* loop_iterations;
  unsigned traits;  // OpTraits

  bool Has(OpTraits trait) const { return (traits & trait) != 0; }
  Status infer(Graph& graph, const Node& node) const;  // counts the operands first
};

const OpDef& OpDefOf(const Op& op);

}  // namespace hearth

#endif  // HEARTH_CORE_GRAPH_OP_DEF_H_
