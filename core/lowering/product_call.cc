// Products of two computed matrices that may lie anywhere in their tensors.
#include <algorithm>

#include "core/base/numbers.h"
#include "core/lowering/lowering_support.h"
#include "core/lowering/matrix_call.h"

namespace hearth {

MatrixPlace WholePlace(const PlanBuilder& builder, ValueId value) {
  return {value, 0, static_cast<int32_t>(builder.ShapeOf(value).pixels()), {}};
}

KernelCall ProductCall(PlanBuilder& builder, const Node& node, const ProductShapes& shapes) {
  const ValueId bias = node.inputs.size() > 2 ? node.inputs[2] : kNoValue;
  const int32_t batches = shapes.batches[0] * shapes.batches[1] * shapes.batches[2];
  const int cols = shapes.n > 4 ? 2 : 1;
  const auto flag = [](bool set) { return set ? "1" : "0"; };
  KernelCall call;
  call.kernel = "matmul";
  call.stores_each_texel_once = true;
  call.defines = {{"ADJ_A", flag(shapes.adjoint_a)},
                  {"ADJ_B", flag(shapes.adjoint_b)},
                  {"FLAT_A", flag(shapes.flat_a)},
                  {"COLS", std::to_string(cols)}};
  call.tensors = TensorsOf<kernels::Matmul>({{"a", builder.Tensor(shapes.a.value)},
                                             {"b", builder.Tensor(shapes.b.value)},
                                             {"bias", BiasOperand(builder, bias, shapes.n, 4)},
                                             {"y", builder.Tensor(shapes.y.value)}});
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

}  // namespace hearth
