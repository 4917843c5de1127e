// Everything that core knows about an operation, one row each.
//
// The rows stand in lowering/op_table.cc, because a row also names the functions of the operation's lowering. The graph
// room needs only a row's name, `infer` and `reference`.
#ifndef HEARTH_CORE_GRAPH_OP_DEF_H_
#define HEARTH_CORE_GRAPH_OP_DEF_H_

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

// A tensor as the reference sees it: every element type widened to double (exact for float32,
// float16, all 8- to 32-bit integers and integers of 64 bits up to 2^53).
struct ReferenceTensor {
  Shape shape;
  std::vector<double> values;  // C order
  // The type of plain integers, set by ReferenceFromBytes and for outputs by EvaluateNode: results wrap and divisions
  // truncate as those of the type do.
  std::optional<DType> integers = std::nullopt;
};

// Sets the descriptions of the node's outputs from those of its inputs; checks ranks, types and attributes. An error
// names the operation and what is wrong.
using InferFunction = Status (*)(Graph& graph, const Node& node);
// The value of the operation in float64, per TFLite's CPU interpreter. Absent optional inputs are null. `outputs` come
// with their shapes set and values sized. Inputs are valid (infer passed).
using ReferenceFunction = void (*)(const Node& node, std::span<const ReferenceTensor* const> inputs,
                                   std::span<ReferenceTensor> outputs);
// Why `device` can't run this node; nothing when it can.
using UnsupportedFunction = std::optional<std::string> (*)(const Graph& graph, const Node& node,
                                                           const DeviceInfo& device);
// Appends the node's dispatches. Precondition: UnsupportedFunction gave nothing.
using LowerFunction = Status (*)(const Node& node, PlanBuilder& builder);
// The ways in which the node can be lowered on this device; the first is what rules choose.
using CandidatesFunction = std::vector<KernelChoice> (*)(const Node& node, const PlanBuilder& builder);
// Roughly how many loop iterations over data one work item makes in all.
using LoopTurnsFunction = int64_t (*)(const Graph& graph, const Node& node);

// Facts about all nodes of an operation, a bit each.
enum OpTraits : unsigned {
  kPlain = 0,
  // Every element of an output is one of an input, or 0: integers stay what they are.
  kMovesElements = 1,
  // The result holds indices of elements that were chosen by their size, so that a rounding may change much.
  kChoosesIndices = 2,
  // Constant operands may be stored in another type than what they are applied to: filters and biases.
  kTakesStoredConstants = 4,
  // Costs many calculations an element: such nodes over constants are not evaluated when a model is read.
  kCostly = 8,
  // Takes and makes tensors without elements wherever a dimension is 0; other operations take an empty batch
  // (dimension 0), of which all results are empty.
  kTakesEmpty = 16,
};

struct OpDef {
  size_t index;           // in the Op variant
  std::string_view name;  // in graph texts and reports: "conv_2d"
  InferFunction infer;
  ReferenceFunction reference;      // null: nothing can run it; of loops: EvaluateNode does
  UnsupportedFunction unsupported;  // null: no device kernel at all
  LowerFunction lower;
  CandidatesFunction candidates;  // null: one way
  LoopTurnsFunction loop_turns;
  unsigned traits;  // OpTraits

  bool Has(OpTraits trait) const { return (traits & trait) != 0; }
};

const OpDef& OpDefOf(const Op& op);

}  // namespace hearth

#endif  // HEARTH_CORE_GRAPH_OP_DEF_H_
