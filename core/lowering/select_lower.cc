#include "core/lowering/broadcast_lower.h"
#include "core/lowering/lowering_support.h"
#include "core/lowering/op_lowerings.h"

namespace hearth {
namespace {

Status CallSelect(const Node& node, PlanBuilder& builder, const Shape& condition, bool per_row) {
  const auto shape = [&](ValueId value) { return builder.graph().value(value).desc.shape; };
  KernelCall call;
  call.kernel = "select";
  if (per_row) call.defines = {{"PER_ROW", "1"}};
  call.tensors = TensorsOf<kernels::Select>({{"condition", builder.Tensor(node.inputs[0])},
                                             {"yes", builder.Tensor(node.inputs[1])},
                                             {"no", builder.Tensor(node.inputs[2])},
                                             {"y", builder.Tensor(node.outputs[0])}});
  AddBroadcast(std::array{condition, shape(node.inputs[1]), shape(node.inputs[2])}, shape(node.outputs[0]), call);
  return builder.Call(node, call);
}

}  // namespace

std::optional<std::string> SelectUnsupported(const Graph& graph, const Node& node, const Placing& placing) {
  if (auto reason = BroadcastUnsupported(graph, node)) return reason;
  return WideIntegers(node, placing);
}

Status LowerSelect(const Node& node, PlanBuilder& builder) {
  return CallSelect(node, builder, builder.graph().value(node.inputs[0]).desc.shape, false);
}

std::optional<std::string> SelectRowsUnsupported(const Graph&, const Node& node, const Placing& placing) {
  return WideIntegers(node, placing);
}

Status LowerSelectRows(const Node& node, PlanBuilder& builder) {
  const Shape& condition = builder.graph().value(node.inputs[0]).desc.shape;
  const int rank = builder.graph().value(node.outputs[0]).desc.shape.rank();
  if (rank == 1) return CallSelect(node, builder, condition, false);
  // The condition chooses whole rows of dimension 0, so its shape is [rows, 1, ..., 1].
  std::vector<int32_t> dims(static_cast<size_t>(rank), 1);
  dims[0] = condition[0];
  return CallSelect(node, builder, Shape::FromSpan(dims), true);
}

}  // namespace hearth
