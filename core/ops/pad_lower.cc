#include "core/ops/lowering_support.h"
#include "core/ops/pad.h"

namespace hearth {

std::optional<std::string> PadUnsupported(const Graph& graph, const Node& node, const DeviceInfo&) {
  if (auto reason = NotReal(graph, node)) return reason;
  const auto& pad = std::get<Pad>(node.op);
  const int rank = graph.value(node.inputs[0]).desc.shape.rank();
  for (int d = 0; d < rank - 4; ++d) {
    if (pad.before[d] != 0 || pad.after[d] != 0) return "padding a leading dimension of rank 5 has no device kernel";
  }
  return std::nullopt;
}

Status LowerPad(const Node& node, PlanBuilder& builder) {
  const auto& pad = std::get<Pad>(node.op);
  const Bhwc in = builder.ShapeOf(node.inputs[0]);
  const Bhwc out = builder.ShapeOf(node.outputs[0]);
  const int rank = pad.before.rank();
  const auto before = [&](int from_end) { return from_end < rank ? pad.before[rank - 1 - from_end] : 0; };
  // Ranks 2 and 3 keep their first dimension in the batch (see ToBhwc).
  const int32_t batch = rank == 2 || rank == 3 ? pad.before[0] : before(3);
  KernelCall call;
  call.kernel = "pad";
  call.tensors = {{"x", builder.Tensor(node.inputs[0])}, {"y", builder.Tensor(node.outputs[0])}};
  call.scalars = {{"IB", in.b},
                  {"IH", in.h},
                  {"IW", in.w},
                  {"IC", in.c},
                  {"IPIX", static_cast<int32_t>(in.pixels())},
                  {"OH", out.h},
                  {"OW", out.w},
                  {"OC", out.c},
                  {"OPIX", static_cast<int32_t>(out.pixels())},
                  {"B_BEFORE", batch},
                  {"Y_BEFORE", rank >= 4 ? before(2) : 0},
                  {"X_BEFORE", rank >= 3 ? before(1) : 0},
                  {"C_BEFORE", before(0)},
                  {"VALUE", pad.value}};
  call.work_items = {out.w, int64_t{out.h} * out.b, out.slices()};
  return builder.Call(node, call);
}

}  // namespace hearth
