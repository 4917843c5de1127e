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

const OpDef& OpDefOf(const Op& op);

}  // namespace hearth

#endif  // HEARTH_CORE_GRAPH_OP_DEF_H_
