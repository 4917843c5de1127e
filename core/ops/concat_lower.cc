#include "core/error.h"
#include "core/ops/concat.h"
#include "core/ops/lowering_support.h"

namespace hearth {
namespace {

// Which of b, h, w, c a dimension of a tensor of this rank is (see ToBhwc): 0 to 3.
int BhwcAxis(int axis, int rank) {
  if (axis == rank - 1) return 3;
  if (rank <= 3) return axis == 0 ? 0 : 2;
  return axis - (rank - 4);
}

KernelCall CopyCall(Operand x, Operand y, const Bhwc& in, const Bhwc& out, const std::array<int32_t, 4>& at) {
  KernelCall call;
  call.kernel = "copy_region";
  call.tensors = {{"x", x}, {"y", y}};
  call.scalars = {{"W", in.w},
                  {"H", in.h},
                  {"SLICES", in.slices()},
                  {"PIXELS", static_cast<int32_t>(in.pixels())},
                  {"DST_W", out.w},
                  {"DST_H", out.h},
                  {"DST_PIXELS", static_cast<int32_t>(out.pixels())},
                  {"DST_SLICE", at[3] / 4},
                  {"DST_B", at[0]},
                  {"DST_Y", at[1]},
                  {"DST_X", at[2]}};
  call.work_items = {in.w, int64_t{in.h} * in.b, in.slices()};
  return call;
}

KernelCall AppendChannelsCall(Operand x, Operand y, const Bhwc& in, int32_t offset) {
  KernelCall call;
  call.kernel = "concat_channels";
  call.tensors = {{"x", x}, {"before", y}, {"y", y}};
  call.scalars = {{"PIXELS", static_cast<int32_t>(in.pixels())}, {"CHANNELS", in.c}, {"OFFSET", offset}};
  call.work_items = {in.pixels(), (in.c + offset % 4 + 3) / 4, 1};
  call.buffer_reads = {"before"};
  return call;
}

}  // namespace

std::optional<std::string> ConcatUnsupported(const Graph& graph, const Node& node, const DeviceInfo&) {
  if (auto reason = NotReal(graph, node)) return reason;
  const int rank = graph.value(node.outputs[0]).desc.shape.rank();
  const int axis = std::get<Concat>(node.op).axis;
  const int positive = axis < 0 ? axis + rank : axis;
  if (rank > 4 && positive < rank - 3) return "concatenation along a leading dimension of rank 5 has no device kernel";
  // The epilogue would run twice on the texels that two inputs share.
  const Activation activation = std::get<Concat>(node.op).activation;
  if (activation == Activation::kTanh || activation == Activation::kSigmoid)
    return "a fused tanh or sigmoid after concatenation has no device kernel";
  return std::nullopt;
}

Status LowerConcat(const Node& node, PlanBuilder& builder) {
  const auto& concat = std::get<Concat>(node.op);
  const int rank = builder.graph().value(node.outputs[0]).desc.shape.rank();
  const int axis = BhwcAxis(concat.axis < 0 ? concat.axis + rank : concat.axis, rank);
  const Bhwc out = builder.ShapeOf(node.outputs[0]);
  const Operand y = builder.Tensor(node.outputs[0]);
  std::array<int32_t, 4> at = {0, 0, 0, 0};
  for (ValueId input : node.inputs) {
    const Bhwc in = builder.ShapeOf(input);
    const Operand x = builder.Tensor(input);
    KernelCall call = axis == 3 && at[3] % 4 != 0 ? AppendChannelsCall(x, y, in, at[3]) : CopyCall(x, y, in, out, at);
    call.epilogue = ActivationEpilogue(concat.activation);
    HEARTH_TRY(builder.Call(node, call));
    at[axis] += std::array{in.b, in.h, in.w, in.c}[axis];
  }
  return Status::Ok();
}

}  // namespace hearth
