#include "core/lowering/lowering_support.h"
#include "core/lowering/op_lowerings.h"

namespace hearth {
namespace {

// One work item per texel of y. `block` and `before` have one number per spatial dimension: rank 3 has only the width.
template <typename Kernel>
Status CallOnBlocks(const Node& node, const Shape& block, const Shape& before, PlanBuilder& builder) {
  const Bhwc in = builder.ShapeOf(node.inputs[0]), out = builder.ShapeOf(node.outputs[0]);
  const bool two = block.rank() == 2;
  KernelCall call = NodeCallOf<Kernel>(builder, node);
  call.scalars = {{"IB", in.b},
                  {"IH", in.h},
                  {"IW", in.w},
                  {"IPIX", in.pixels()},
                  {"OB", out.b},
                  {"OH", out.h},
                  {"OW", out.w},
                  {"OPIX", out.pixels()},
                  {"SLICES", out.slices()},
                  {"BLOCK_H", two ? block[0] : 1},
                  {"BLOCK_W", two ? block[1] : block[0]},
                  {"TOP", two ? before[0] : 0},
                  {"LEFT", two ? before[1] : before[0]}};
  UseLines(out.pixels(), out.slices(), call);
  return builder.Call(node, call);
}

}  // namespace

Status LowerSpaceToBatch(const Node& node, PlanBuilder& builder) {
  const auto& op = std::get<SpaceToBatch>(node.op);
  return CallOnBlocks<kernels::SpaceToBatch>(node, op.block, op.before, builder);
}

Status LowerBatchToSpace(const Node& node, PlanBuilder& builder) {
  const auto& op = std::get<BatchToSpace>(node.op);
  return CallOnBlocks<kernels::BatchToSpace>(node, op.block, op.crop_before, builder);
}

}  // namespace hearth
