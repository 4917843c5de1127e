// Products of two matrices: computed ones, which may lie anywhere in their tensors, and fully connected layers.
#include <algorithm>

#include "core/base/numbers.h"
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
  const auto window = WindowScalars({}, {batch, 1, pixels, in.c}, {batch, 1, 1, filter[0]}, 1, pixels);
  call.scalars.insert(call.scalars.end(), window.begin(), window.end());
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

MatrixPlace WholePlace(const PlanBuilder& builder, ValueId value) {
  return {value, 0, static_cast<int32_t>(builder.ShapeOf(value).pixels()), {}};
}

KernelCall ProductCall(PlanBuilder& builder, const Node& node, const ProductShapes& shapes) {
  const int32_t batches = shapes.batches[0] * shapes.batches[1] * shapes.batches[2];
  const int cols = shapes.n > 4 ? 2 : 1;
  const auto flag = [](bool set) { return set ? "1" : "0"; };
  KernelCall call = CallOf<kernels::Matmul>({{"a", builder.Tensor(shapes.a.value)},
                                             {"b", builder.Tensor(shapes.b.value)},
                                             {"bias", BiasOperand(builder, InputOf(node, 2), shapes.n, 4)},
                                             {"y", builder.Tensor(shapes.y.value)}});
  call.stores_each_texel_once = true;
  call.defines = {{"ADJ_A", flag(shapes.adjoint_a)},
                  {"ADJ_B", flag(shapes.adjoint_b)},
                  {"FLAT_A", flag(shapes.flat_a)},
                  {"COLS", std::to_string(cols)}};
  call.scalars = {{"M", shapes.m},
                  {"N", shapes.n},
                  {"K", shapes.k},
                  {"B", batches},
                  {"AT", shapes.a.first},
                  {"BT", shapes.b.first},
                  {"APIX", shapes.a.slice_step},
                  {"BPIX", shapes.b.slice_step},
                  {"YPIX", shapes.y.slice_step},
                  {"AC", builder.ShapeOf(shapes.a.value).c},
                  {"D1", shapes.batches[1]},
                  {"D2", shapes.batches[2]},
                  {"SA0", shapes.a.batch_steps[0]},
                  {"SA1", shapes.a.batch_steps[1]},
                  {"SA2", shapes.a.batch_steps[2]},
                  {"SB0", shapes.b.batch_steps[0]},
                  {"SB1", shapes.b.batch_steps[1]},
                  {"SB2", shapes.b.batch_steps[2]},
                  {"SY0", shapes.y.batch_steps[0]},
                  {"SY1", shapes.y.batch_steps[1]},
                  {"SY2", shapes.y.batch_steps[2]}};
  call.work_items = {batches * Tiles(shapes.m, 4), Tiles(Tiles(shapes.n, 4), cols), 1};
  return call;
}

std::optional<ViewedPlace> PlaceThrough(const StridedView& view, const Shape& own, ValueId value, const Bhwc& lies_in) {
  const auto strides = StridesAlong(view, own);
  const int leading = own.rank() - 2;
  if (!strides || leading < 0 || leading > 3) return std::nullopt;
  const int64_t row_stride = (*strides)[leading], column_stride = (*strides)[leading + 1];
  const bool transposed = column_stride != 1 && row_stride == 1;
  if (column_stride != 1 && !transposed) return std::nullopt;
  const int32_t channels = own[transposed ? leading : leading + 1], rows = own[transposed ? leading + 1 : leading];
  const int64_t first_channel = view.base % lies_in.c;
  const bool whole_texels = channels == lies_in.c || (channels % 4 == 0 && first_channel % 4 == 0);
  if (!whole_texels || (rows > 1 && (transposed ? column_stride : row_stride) != lies_in.c)) return std::nullopt;
  ViewedPlace viewed{{value,
                      static_cast<int32_t>(first_channel / 4 * lies_in.pixels() + view.base / lies_in.c),
                      static_cast<int32_t>(lies_in.pixels()),
                      {}},
                     transposed};
  int64_t last_channel = first_channel + channels - 1;
  for (int d = 0; d < leading; ++d) {
    const int64_t stride = (*strides)[d];
    const bool within_pixel = stride % lies_in.c != 0;
    if (stride < 0 || (within_pixel && stride % 4 != 0)) return std::nullopt;
    if (within_pixel) last_channel += (own[d] - 1) * stride;
    viewed.place.batch_steps[3 - leading + d] =
        static_cast<int32_t>(within_pixel ? stride / 4 * lies_in.pixels() : stride / lies_in.c);
  }
  if (last_channel >= lies_in.c) return std::nullopt;
  return viewed;
}

bool StoresThrough(const Node& node, ValueId x, ValueId y, const StridedView& view, PlanBuilder& builder) {
  const KernelCall* call = builder.RelocatableMakerOf(x);
  if (call == nullptr || call->kernel.text() != "matmul") return false;
  const Shape& own = builder.DescOf(x).shape;
  const auto rows = std::ranges::find(call->scalars, "M", [](const NamedScalar& scalar) { return scalar.name.text(); });
  if (own.rank() < 2 || rows->scalar.bits != static_cast<uint32_t>(own[own.rank() - 2])) return false;
  const auto goes_to = Inverse(view, own.element_count());
  const auto viewed = goes_to ? PlaceThrough(*goes_to, own, y, builder.ShapeOf(y)) : std::nullopt;
  if (!viewed || viewed->transposed) return false;
  const auto& steps = viewed->place.batch_steps;
  const NamedScalar scalars[] = {
      {"YPIX", viewed->place.slice_step}, {"SY0", steps[0]}, {"SY1", steps[1]}, {"SY2", steps[2]}};
  return builder.Relocate(node, x, y, scalars);
}

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

std::vector<KernelChoice> FullyConnectedCandidates(const Node& node, const PlanBuilder& builder) {
  const Shape& filter = builder.DescOf(node.inputs[1]).shape;
  if (!IsConvolution(builder, node, filter)) return {{"rows", 4, 2, 8}};
  return MatrixCandidates(builder, node, ShapesOf(builder, node, filter));
}

Status LowerFullyConnected(const Node& node, PlanBuilder& builder) {
  const Shape& filter = builder.DescOf(node.inputs[1]).shape;
  const int64_t rows = builder.ShapeOf(node.outputs[0]).pixels();
  KernelCall call = IsConvolution(builder, node, filter) ? ConvolutionCall(builder, node, filter)
                                                         : RowsCall(builder, node, filter, rows);
  call.epilogue = ActivationEpilogue(std::get<FullyConnected>(node.op).activation);
  return builder.Call(node, call);
}

}  // namespace hearth
