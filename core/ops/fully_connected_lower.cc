#include "core/ops/fully_connected.h"
#include "core/ops/lowering_support.h"
#include "core/ops/matrix_call.h"

namespace hearth {
namespace {

// Each row fills whole pixels: a convolution whose window is all of them.
KernelCall ConvolutionCall(PlanBuilder& builder, const Node& node, const Shape& filter, int64_t rows) {
  const Bhwc in = builder.ShapeOf(node.inputs[0]);
  const int32_t pixels = filter[1] / in.c;
  KernelCall call = MatrixCall(builder, node, {rows, {filter[0], 1, pixels, in.c}, pixels == 1});
  const auto batch = static_cast<int32_t>(rows);
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
  return ProductCall(builder, node, shapes);
}

}  // namespace

std::optional<std::string> FullyConnectedUnsupported(const Graph& graph, const Node& node, const DeviceInfo&) {
  return NotReal(graph, node);
}

Status LowerFullyConnected(const Node& node, PlanBuilder& builder) {
  const Shape& filter = builder.graph().value(node.inputs[1]).desc.shape;
  const int64_t rows = builder.ShapeOf(node.outputs[0]).pixels();
  const bool whole_pixels = filter[1] % builder.ShapeOf(node.inputs[0]).c == 0;
  KernelCall call = whole_pixels && builder.graph().IsConstant(node.inputs[1])
                        ? ConvolutionCall(builder, node, filter, rows)
                        : RowsCall(builder, node, filter, rows);
  call.epilogue = ActivationEpilogue(std::get<FullyConnected>(node.op).activation);
  return builder.Call(node, call);
}

}  // namespace hearth
