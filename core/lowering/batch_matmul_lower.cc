#include "core/graph/ops/broadcast.h"
#include "core/lowering/lowering_support.h"
#include "core/lowering/matrix_call.h"
#include "core/lowering/op_lowerings.h"

namespace hearth {
namespace {

// The value's matrices, with strides in pixels: a matrix has one pixel per row.
MatrixPlace PlaceOf(const PlanBuilder& builder, ValueId value) {
  const Shape& shape = builder.DescOf(value).shape;
  MatrixPlace place = WholePlace(builder, value);
  const auto steps = MatrixBatch(shape).Steps();
  for (size_t d = 0; d < steps.size(); ++d) {
    place.batch_steps[d] = static_cast<int32_t>(steps[d] * shape[shape.rank() - 2]);
  }
  return place;
}

bool IsOneMatrix(const Shape& shape) {
  return MatrixBatch(shape).sizes == std::array<int32_t, 3>{1, 1, 1};
}

// The position of an operand before the moves that made it, if they are deferred; nothing otherwise.
std::optional<ViewedPlace> PlaceBefore(const PlanBuilder& builder, ValueId value) {
  const auto* moved = builder.DeferredAt(value);
  if (moved == nullptr || !builder.HoldAlike(value, moved->source)) return std::nullopt;
  return PlaceThrough(moved->view, builder.DescOf(value).shape, moved->source, builder.ShapeOf(moved->source));
}

}  // namespace

Status LowerBatchMatMul(const Node& node, PlanBuilder& builder) {
  const auto& product = std::get<BatchMatMul>(node.op);
  const Graph& graph = builder.graph();
  const Shape& a = graph.value(node.inputs[0]).desc.shape;
  const Shape& b = graph.value(node.inputs[1]).desc.shape;
  const Shape& out = graph.value(node.outputs[0]).desc.shape;
  ProductShapes shapes;
  shapes.m = out[out.rank() - 2];
  shapes.n = out[out.rank() - 1];
  shapes.k = a[a.rank() - (product.adjoint_a ? 2 : 1)];
  shapes.adjoint_a = product.adjoint_a;
  // A constant [N,K] matrix used by all products: the weights of a 1x1 convolution.
  if (graph.IsConstant(node.inputs[1]) && IsOneMatrix(b) && product.adjoint_b && !product.adjoint_a) {
    const MatrixShapes matrix{builder.ShapeOf(node.outputs[0]).pixels(), {shapes.n, 1, 1, shapes.k}};
    KernelCall call = MatrixCall(builder, node, matrix, MatrixCandidates(builder, node, matrix).front());
    return builder.Call(node, call);
  }
  const auto a_before = PlaceBefore(builder, node.inputs[0]), b_before = PlaceBefore(builder, node.inputs[1]);
  shapes.y = WholePlace(builder, node.outputs[0]);
  if (IsOneMatrix(b) && !product.adjoint_a && !a_before) {
    shapes.m = static_cast<int32_t>(builder.ShapeOf(node.outputs[0]).pixels());  // all rows share the matrix
    shapes.a = WholePlace(builder, node.inputs[0]);
  } else {
    shapes.batches = MatrixBatch(out).sizes;
    shapes.a = a_before ? a_before->place : PlaceOf(builder, node.inputs[0]);
    shapes.adjoint_a = product.adjoint_a != (a_before && a_before->transposed);
    shapes.y = PlaceOf(builder, node.outputs[0]);
  }
  shapes.b = b_before ? b_before->place : PlaceOf(builder, node.inputs[1]);
  shapes.adjoint_b = product.adjoint_b != (b_before && b_before->transposed);
  return builder.Call(node, ProductCall(builder, node, shapes));
}

}  // namespace hearth
