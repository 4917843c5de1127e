#include "core/lowering/lowering_support.h"
#include "core/lowering/matrix_call.h"
#include "core/lowering/op_lowerings.h"

namespace hearth {
namespace {

// Whether each row fills whole pixels: then the node is a convolution whose window covers them.
bool IsConvolution(const PlanBuilder& builder, const Node& node, const Shape& filter) {
  return filter[1] % builder.ShapeOf(node.inputs[0]).c == 0 && builder.graph().IsConstant(node.inputs[1]);
}
MatrixShapes ShapesOf(const PlanBuilder& builder, const Node& node, const Shape& filter) {
  const int32_t channels = builder.ShapeOf(node.inputs[0]).c, pixels = filter[1] / channels;
  return {builder.ShapeOf(node.outputs[0]).pixels(), {filter[0], 1, pixels, channels}, pixels == 1};
}

KernelCall ConvolutionCall(PlanBuilder& builder, const Node& node, const Shape& filter) {
  const Bhwc in = builder.ShapeOf(node.inputs[0]);
  const MatrixShapes shapes = ShapesOf(builder, node, filter);
  KernelCall call = MatrixCall(builder, node, shapes, builder.Choose(node));
  const int32_t pixels = shapes.filter[2];
  const auto batch = static_cast<int32_t>(shapes.pixels);
  const auto geometry = ConvGeometry({}, {batch, 1, pixels, in.c}, {batch, 1, 1, filter[0]}, 1, pixels);
  call.scalars.insert(call.scalars.end(), geometry.begin(), geometry.end());
  return call;
}

KernelCall RowsCall(PlanBuilder& builder, const Node& node, const Shape& filter, int64_t rows) {
  ProductShapes shapes;
  shapes.m = static_cast<int32_t>(rows);
  shapes.n = filter[0];
  shapes.k = filter[1];
  shapes.adjoint_b = true;
  shapes.flat_a = builder.ShapeOf(node.inputs[0]).c != filter[1];
  shapes.a = WholePlace(builder, node.inputs[0]);
  shapes.b = WholePlace(builder, node.inputs[1]);
  shapes.y = WholePlace(builder, node.outputs[0]);
  return ProductCall(builder, node, shapes);
}

}  // namespace

std::vector<KernelChoice> FullyConnectedCandidates(const Node& node, const PlanBuilder& builder) {
  const Shape& filter = builder.graph().value(node.inputs[1]).desc.shape;
  if (!IsConvolution(builder, node, filter)) return {{"rows", 4, 2, 8}};
  return MatrixCandidates(builder, node, ShapesOf(builder, node, filter));
}

Status LowerFullyConnected(const Node& node, PlanBuilder& builder) {
  const Shape& filter = builder.graph().value(node.inputs[1]).desc.shape;
  const int64_t rows = builder.ShapeOf(node.outputs[0]).pixels();
  KernelCall call = IsConvolution(builder, node, filter) ? ConvolutionCall(builder, node, filter)
                                                         : RowsCall(builder, node, filter, rows);
  call.epilogue = ActivationEpilogue(std::get<FullyConnected>(node.op).activation);
  return builder.Call(node, call);
}

}  // namespace hearth
