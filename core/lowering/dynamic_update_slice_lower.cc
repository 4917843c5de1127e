#include <fmt/format.h>

#include "core/base/error.h"
#include "core/lowering/lowering_support.h"
#include "core/lowering/op_lowerings.h"

namespace hearth {

std::optional<std::string> DynamicUpdateSliceUnsupported(const Graph& graph, const Node& node, const Placing& placing) {
  const int rank = graph.value(node.inputs[0]).desc.shape.rank();
  if (rank > kMaxKernelRank) return fmt::format("it counts {} dimensions, kernels take {}", rank, kMaxKernelRank);
  return WideIntegers(node, placing);
}

Status LowerDynamicUpdateSlice(const Node& node, PlanBuilder& builder) {
  static constexpr ScalarName kOut[] = {"O1", "O2", "O3", "O4", "O5"};
  static constexpr ScalarName kUpdate[] = {"U1", "U2", "U3", "U4", "U5"};
  const Shape& shape = builder.graph().value(node.inputs[0]).desc.shape;
  const Shape& update_shape = builder.graph().value(node.inputs[1]).desc.shape;
  const Bhwc update = builder.ShapeOf(node.inputs[1]), out = builder.ShapeOf(node.outputs[0]);
  const int last = shape.rank() - 1;
  const Lines lines = LinesOf(update);
  HEARTH_TRY(builder.Call(node, TexelCopyCall(builder, node.inputs[0], node.outputs[0])));
  const Operand y = builder.Tensor(node.outputs[0]);
  KernelCall call;
  call.kernel = "dynamic_update_slice";
  call.tensors = TensorsOf<kernels::DynamicUpdateSlice>(
      {{"update", builder.Tensor(node.inputs[1])}, {"start", builder.Tensor(node.inputs[2])}, {"before", y}, {"y", y}});
  call.buffer_reads = {"before"};
  call.defines = {{"WHOLE_TEXELS", update.c == out.c ? "1" : "0"}};
  call.scalars = {{"UC", update.c},       {"UPIX", static_cast<int32_t>(update.pixels())},
                  {"OC", out.c},          {"OPIX", static_cast<int32_t>(out.pixels())},
                  {"LINE", lines.length}, {"LAST", last}};
  for (int k = 1; k < kMaxKernelRank; ++k) {
    call.scalars.push_back({kOut[k - 1], k <= last ? shape[last - k] : 1});
    call.scalars.push_back({kUpdate[k - 1], k <= last ? update_shape[last - k] : 1});
  }
  call.work_items = {lines.length, lines.count, out.slices()};
  return builder.Call(node, call);
}

}  // namespace hearth
