#include "core/lowering/lowering_support.h"
#include "core/lowering/op_lowerings.h"

namespace hearth {

std::optional<std::string> Pool2DUnsupported(const Graph& graph, const Node& node, const Placing&) {
  return NotReal(graph, node);
}

Status LowerPool2D(const Node& node, PlanBuilder& builder) {
  const auto& pool = std::get<Pool2D>(node.op);
  const Bhwc in = builder.ShapeOf(node.inputs[0]);
  const Bhwc out = builder.ShapeOf(node.outputs[0]);
  const Padding2D padding = ResolvePadding(pool.window, in.h, in.w, pool.kernel_h, pool.kernel_w);
  KernelCall call;
  call.kernel = "pool";
  call.stores_each_texel_once = true;
  call.defines = {{"MAX", pool.kind == PoolKind::kMax ? "1" : "0"}, {"L2", pool.kind == PoolKind::kL2 ? "1" : "0"}};
  call.tensors =
      TensorsOf<kernels::Pool>({{"x", builder.Tensor(node.inputs[0])}, {"y", builder.Tensor(node.outputs[0])}});
  call.scalars = ImageScalars(in, out);
  for (const NamedScalar& scalar : {NamedScalar{"KH", pool.kernel_h},
                                    {"KW", pool.kernel_w},
                                    {"SH", pool.window.stride_h},
                                    {"SW", pool.window.stride_w},
                                    {"PT", padding.top},
                                    {"PL", padding.left}}) {
    call.scalars.push_back(scalar);
  }
  call.work_items = {out.w, out.h, int64_t{out.slices()} * out.b};
  call.epilogue = ActivationEpilogue(pool.activation);
  return builder.Call(node, call);
}

}  // namespace hearth
