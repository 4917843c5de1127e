#include "core/graph/ops/view_of.h"

#include <array>
#include <variant>

namespace hearth {
namespace {

// The stride of each dimension in elements, in C order.
std::array<int64_t, Shape::kMaxRank> StridesOf(const Shape& shape) {
  std::array<int64_t, Shape::kMaxRank> strides{};
  int64_t stride = 1;
  for (int d = shape.rank() - 1; d >= 0; --d) {
    strides[d] = stride;
    stride *= shape[d];
  }
  return strides;
}

struct Shapes {
  const Shape &in, &out;
  std::array<int64_t, Shape::kMaxRank> strides;  // of the input
};

StridedView View(const Reshape&, const Shapes& shapes, size_t /*output*/) {
  return {0, {{shapes.in.element_count(), 1}}};
}

StridedView View(const Transpose& transpose, const Shapes& shapes, size_t /*output*/) {
  StridedView view;
  for (int32_t from : transpose.permutation.dims()) view.digits.push_back({shapes.in[from], shapes.strides[from]});
  return view;
}

StridedView View(const Slice& slice, const Shapes& shapes, size_t /*output*/) {
  StridedView view;
  for (int d = 0; d < shapes.in.rank(); ++d) {
    view.base += slice.begin[d] * shapes.strides[d];
    // A dimension of one element has any stride: the product might not fit.
    view.digits.push_back({slice.size[d], slice.size[d] == 1 ? 0 : slice.strides[d] * shapes.strides[d]});
  }
  return view;
}

StridedView View(const Split& split, const Shapes& shapes, size_t output) {
  StridedView view;
  for (size_t k = 0; k < output; ++k) view.base += split.sizes[k] * shapes.strides[split.axis];
  for (int d = 0; d < shapes.out.rank(); ++d) view.digits.push_back({shapes.out[d], shapes.strides[d]});
  return view;
}

StridedView View(const Unpack& unpack, const Shapes& shapes, size_t output) {
  StridedView view{static_cast<int64_t>(output) * shapes.strides[unpack.axis], {}};
  for (int d = 0; d < shapes.in.rank(); ++d) {
    if (d != unpack.axis) view.digits.push_back({shapes.in[d], shapes.strides[d]});
  }
  return view;
}

StridedView View(const Tile& tile, const Shapes& shapes, size_t /*output*/) {
  StridedView view;
  for (int d = 0; d < shapes.in.rank(); ++d) {
    view.digits.push_back({tile.multiples[d], 0});
    view.digits.push_back({shapes.in[d], shapes.strides[d]});
  }
  return view;
}

StridedView View(const BroadcastTo&, const Shapes& shapes, size_t /*output*/) {
  StridedView view;
  const int added = shapes.out.rank() - shapes.in.rank();
  for (int d = 0; d < shapes.out.rank(); ++d) {
    const bool repeats = d < added || shapes.in[d - added] == 1;
    view.digits.push_back({shapes.out[d], repeats ? 0 : shapes.strides[d - added]});
  }
  return view;
}

StridedView View(const Reverse& reverse, const Shapes& shapes, size_t /*output*/) {
  StridedView view;
  for (int d = 0; d < shapes.in.rank(); ++d) {
    const bool reversed = (reverse.axes_mask >> d & 1) != 0;
    if (reversed) view.base += (shapes.in[d] - 1) * shapes.strides[d];
    view.digits.push_back({shapes.in[d], reversed ? -shapes.strides[d] : shapes.strides[d]});
  }
  return view;
}

StridedView View(const DepthToSpace& op, const Shapes& shapes, size_t /*output*/) {
  const Shape& in = shapes.in;
  const auto& strides = shapes.strides;
  const int64_t channels = shapes.out[3], block = op.block;
  return {0,
          {{in[0], strides[0]},
           {in[1], strides[1]},
           {block, block * channels},
           {in[2], strides[2]},
           {block, channels},
           {channels, 1}}};
}

StridedView View(const SpaceToDepth& op, const Shapes& shapes, size_t /*output*/) {
  const Shape& out = shapes.out;
  const auto& strides = shapes.strides;
  const int64_t block = op.block;
  return {0,
          {{out[0], strides[0]},
           {out[1], block * strides[1]},
           {out[2], block * strides[2]},
           {block, strides[1]},
           {block, strides[2]},
           {shapes.in[3], 1}}};
}

template <typename Other>
std::nullopt_t View(const Other&, const Shapes&, size_t /*output*/) {
  return std::nullopt;
}

}  // namespace

std::optional<StridedView> ViewOf(const Graph& graph, const Node& node, size_t output) {
  if (node.inputs.empty() || node.inputs[0] == kNoValue) return std::nullopt;
  const Shape& in = graph.value(node.inputs[0]).desc.shape;
  const Shapes shapes{in, graph.value(node.outputs[output]).desc.shape, StridesOf(in)};
  const auto view =
      std::visit([&](const auto& op) -> std::optional<StridedView> { return View(op, shapes, output); }, node.op);
  if (!view) return std::nullopt;
  return Simplified(*view);
}

}  // namespace hearth
