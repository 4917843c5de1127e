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

Status LowerResize(const Node& node, PlanBuilder& builder) {
  const auto& resize = std::get<Resize>(node.op);
  const Bhwc in = builder.ShapeOf(node.inputs[0]);
  const Bhwc out = builder.ShapeOf(node.outputs[0]);
  KernelCall call;
  call.kernel = resize.kind == ResizeKind::kBilinear ? KernelName("resize_bilinear") : KernelName("resize_nearest");
  call.stores_each_texel_once = true;
  call.defines = {{"BATCHED", in.b == 1 ? "0" : "1"}};
  call.tensors = {{"x", builder.Tensor(node.inputs[0])}, {"y", builder.Tensor(node.outputs[0])}};
  call.scalars = ImageScalars(in, out);
  call.scalars.push_back({"SCALE_Y", ScaleOf(in.h, out.h, resize.align_corners)});
  call.scalars.push_back({"SCALE_X", ScaleOf(in.w, out.w, resize.align_corners)});
  call.scalars.push_back({"HALF", resize.half_pixel_centers ? 0.5f : 0.0f});
  call.work_items = {out.w, out.h, int64_t{out.slices()} * out.b};
  if (resize.kind == ResizeKind::kNearest) call.scalars.push_back({"ALIGN", resize.align_corners ? 1 : 0});
  UseWholeLines(builder.device(), call);
  return builder.Call(node, call);
}

}  // namespace hearth
