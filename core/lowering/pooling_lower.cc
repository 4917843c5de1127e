#include <algorithm>

#include "core/base/numbers.h"
#include "core/graph/ops/window.h"
#include "core/lowering/loop_iterations.h"
#include "core/lowering/lowering_support.h"
#include "core/lowering/op_lowerings.h"

namespace hearth {
namespace {

// Source pixels per output pixel, as TFLite computes it.
float ScaleOf(int32_t in, int32_t out, bool align_corners) {
  return align_corners && out > 1 ? static_cast<float>(in - 1) / static_cast<float>(out - 1)
                                  : static_cast<float>(in) / static_cast<float>(out);
}

}  // namespace

Status LowerPool2D(const Node& node, PlanBuilder& builder) {
  const auto& pool = std::get<Pool2D>(node.op);
  const Bhwc in = builder.ShapeOf(node.inputs[0]);
  const Bhwc out = builder.ShapeOf(node.outputs[0]);
  KernelCall call = NodeCallOf<kernels::Pool>(builder, node);
  call.stores_each_texel_once = true;
  call.defines = {{"MAX", pool.kind == PoolKind::kMax ? "1" : "0"}, {"L2", pool.kind == PoolKind::kL2 ? "1" : "0"}};
  call.scalars = WindowScalars(pool.window, in, out, pool.kernel_h, pool.kernel_w);
  call.work_items = {out.w, out.h, int64_t{out.slices()} * out.b};
  call.epilogue = ActivationEpilogue(pool.activation);
  return builder.Call(node, call);
}

Status LowerMaxPoolArgmax2D(const Node& node, PlanBuilder& builder) {
  const auto& pool = std::get<MaxPoolArgmax2D>(node.op);
  const Bhwc in = builder.ShapeOf(node.inputs[0]);
  const Bhwc out = builder.ShapeOf(node.outputs[0]);
  KernelCall call = NodeCallOf<kernels::PoolArgmax>(builder, node);
  call.scalars = WindowScalars(pool.window, in, out, pool.kernel_h, pool.kernel_w);
  call.work_items = {out.w, out.h, int64_t{out.slices()} * out.b};
  call.epilogue = ActivationEpilogue(pool.activation);
  return builder.Call(node, call);
}

// Over the windows that hold a pixel.
int64_t MaxUnpoolIterations(const Graph& graph, const Node& node) {
  const auto& unpool = std::get<MaxUnpool2D>(node.op);
  const Bhwc in = ToBhwc(graph.value(node.inputs[0]).desc.shape);
  const int64_t high = std::min(int64_t{in.h}, Tiles(unpool.kernel_h, unpool.stride_h));
  const int64_t across = std::min(int64_t{in.w}, Tiles(unpool.kernel_w, unpool.stride_w));
  return LoopOf(high, LoopOf(across));
}

Status LowerMaxUnpool2D(const Node& node, PlanBuilder& builder) {
  const auto& unpool = std::get<MaxUnpool2D>(node.op);
  const Bhwc in = builder.ShapeOf(node.inputs[0]);
  const Bhwc out = builder.ShapeOf(node.outputs[0]);
  KernelCall call = NodeCallOf<kernels::MaxUnpool>(builder, node);
  const Window2D window = {
      .stride_h = unpool.stride_h, .stride_w = unpool.stride_w, .padding = UnpoolPadding(unpool, in.h, in.w)};
  call.scalars = WindowScalars(window, in, out, unpool.kernel_h, unpool.kernel_w);
  call.work_items = {out.w, out.h, int64_t{out.slices()} * out.b};
  return builder.Call(node, call);
}

Status LowerResampler(const Node& node, PlanBuilder& builder) {
  const Bhwc in = builder.ShapeOf(node.inputs[0]);
  const Bhwc out = builder.ShapeOf(node.outputs[0]);
  KernelCall call = NodeCallOf<kernels::Resampler>(builder, node);
  call.scalars = ImageScalars(in, out);
  call.work_items = {out.pixels(), out.slices(), 1};
  return builder.Call(node, call);
}

Status LowerResize(const Node& node, PlanBuilder& builder) {
  const auto& resize = std::get<Resize>(node.op);
  const Bhwc in = builder.ShapeOf(node.inputs[0]);
  const Bhwc out = builder.ShapeOf(node.outputs[0]);
  const bool is_bilinear = resize.kind == ResizeKind::kBilinear;
  KernelCall call = is_bilinear ? NodeCallOf<kernels::ResizeBilinear>(builder, node)
                                : NodeCallOf<kernels::ResizeNearest>(builder, node);
  call.stores_each_texel_once = true;
  call.defines = {{"BATCHED", in.b == 1 ? "0" : "1"}};
  call.scalars = ImageScalars(in, out);
  call.scalars.push_back({"SCALE_Y", ScaleOf(in.h, out.h, resize.align_corners)});
  call.scalars.push_back({"SCALE_X", ScaleOf(in.w, out.w, resize.align_corners)});
  call.scalars.push_back({"HALF", resize.half_pixel_centers ? 0.5f : 0.0f});
  call.work_items = {out.w, out.h, int64_t{out.slices()} * out.b};
  if (!is_bilinear) call.scalars.push_back({"ALIGN", resize.align_corners ? 1 : 0});
  UseWholeLines(builder.device(), call);
  return builder.Call(node, call);
}

}  // namespace hearth
