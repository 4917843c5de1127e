#include "backends/cpu/host/movement.h"

#include <algorithm>

#include "core/graph/evaluate.h"
#include "core/graph/ops/coordinates.h"
#include "core/graph/ops/view_of.h"

namespace hearth {
namespace {

using Digit = MovedPart::Digit;

constexpr int64_t kMostParts = 2048;  // each takes half a kilobyte at least

std::vector<int64_t> StridesOf(const Shape& shape) {
  std::vector<int64_t> strides(static_cast<size_t>(shape.rank()));
  int64_t stride = 1;
  for (int d = shape.rank() - 1; d >= 0; stride *= shape[d--]) strides[static_cast<size_t>(d)] = stride;
  return strides;
}

// A digit of `size` values with the step stride * position(value), or zero if the position is outside `limit`.
template <typename PositionOf>
Digit Stepped(int64_t size, int64_t stride, int64_t limit, PositionOf position_of) {
  Digit digit{size, 0, {}};
  for (int64_t k = 0; k < size; ++k) {
    const int64_t position = position_of(k);
    digit.steps.push_back(position >= 0 && position < limit ? position * stride : MovedPart::kZero);
  }
  return digit;
}

// place(d, at): where the element `at` of the padded dimension d is in the input.
template <typename AnyPad, typename PlaceOf>
std::vector<MovedPart> PartsOfPad(const AnyPad& pad, const Shape& in, const Shape& out, PlaceOf place) {
  const std::vector<int64_t> strides = StridesOf(in);
  MovedPart part;
  for (int d = 0; d < in.rank(); ++d) {
    const bool is_whole = pad.before[d] == 0 && pad.after[d] == 0;
    part.digits.push_back(is_whole ? Digit{in[d], strides[d], {}}
                                   : Stepped(out[d], strides[d], in[d], [&](int64_t at) { return place(d, at); }));
  }
  return {part};
}

std::vector<MovedPart> Parts(const MirrorPad& pad, const Shape& in, const Shape& out) {
  return PartsOfPad(pad, in, out, [&](int d, int64_t at) { return MirroredCoordinate(pad, d, at, in[d]); });
}

std::vector<MovedPart> Parts(const Pad& pad, const Shape& in, const Shape& out) {
  return PartsOfPad(pad, in, out, [&](int d, int64_t at) { return at - pad.before[d]; });
}

int64_t PixelsOf(const SpaceToBatch& op) {
  int64_t pixels = 1;
  for (int d = 0; d < op.block.rank(); ++d) pixels *= op.block[d];
  return pixels;
}

// One part for each pixel of a block.
std::vector<MovedPart> Parts(const SpaceToBatch& op, const Shape& in, const Shape& out) {
  const std::vector<int64_t> strides = StridesOf(in);
  const int64_t blocks = out[0] / in[0], part_elements = out.element_count() / std::max<int64_t>(1, blocks);
  std::vector<MovedPart> parts;
  for (int64_t in_block = 0; in_block < blocks; ++in_block) {
    MovedPart part{0, in_block * part_elements, {{in[0], strides[0], {}}}};
    for (int d = 0; d < op.block.rank(); ++d) {
      const int64_t pixel =
          op.block.rank() == 1 ? in_block : (d == 0 ? in_block / op.block[1] : in_block % op.block[1]);
      part.digits.push_back(Stepped(out[d + 1], strides[d + 1], in[d + 1],
                                    [&](int64_t at) { return at * op.block[d] + pixel - op.before[d]; }));
    }
    part.digits.push_back({in[in.rank() - 1], 1, {}});
    parts.push_back(std::move(part));
  }
  return parts;
}

std::vector<MovedPart> Parts(const BatchToSpace& op, const Shape& in, const Shape& out) {
  const std::vector<int64_t> strides = StridesOf(in);
  MovedPart part{0, 0, {{out[0], strides[0], {}}}};
  int64_t block_stride = out[0] * strides[0];  // between neighbouring images of a block, from the last dimension on
  std::vector<Digit> spatial;
  for (int d = op.block.rank() - 1; d >= 0; --d) {
    Digit digit{out[d + 1], 0, {}};
    for (int64_t at = 0; at < out[d + 1]; ++at) {
      const int64_t whole = at + op.crop_before[d];
      digit.steps.push_back(whole / op.block[d] * strides[d + 1] + whole % op.block[d] * block_stride);
    }
    block_stride *= op.block[d];
    spatial.push_back(std::move(digit));
  }
  for (auto digit = spatial.rbegin(); digit != spatial.rend(); ++digit) part.digits.push_back(std::move(*digit));
  part.digits.push_back({in[in.rank() - 1], 1, {}});
  return {part};
}

std::vector<MovedPart> Parts(const Resize& resize, const Shape& in, const Shape& out) {
  const std::vector<int64_t> strides = StridesOf(in);
  MovedPart part{0, 0, {{in[0], strides[0], {}}}};
  for (int d : {1, 2}) {
    part.digits.push_back(
        Stepped(out[d], strides[d], in[d], [&](int64_t at) { return NearestPixel(resize, at, out[d], in[d]); }));
  }
  part.digits.push_back({in[3], 1, {}});
  return {part};
}

// Rows of known places: padding by edges or mirrors, permuted channels.
std::optional<std::vector<MovedPart>> PartsOfGather(const Graph& graph, const Node& node) {
  constexpr int64_t kMostPlaces = 1 << 15;  // each node has a list of its own
  const auto* gather = std::get_if<Gather>(&node.op);
  if (gather == nullptr || gather->batch_dims != 0 || gather->axis < 0 || !graph.IsConstant(node.inputs[1]) ||
      graph.value(node.inputs[1]).desc.shape.element_count() > kMostPlaces) {
    return std::nullopt;
  }
  const Shape& in = graph.value(node.inputs[0]).desc.shape;
  const auto places = ReferenceFromBytes(graph.value(node.inputs[1]).desc, graph.ReadConstant(node.inputs[1]).bytes);
  if (!places.ok()) return std::nullopt;
  const int axis = gather->axis;
  const int64_t inner = CountBetween(in, axis + 1, in.rank()), size = in[axis];
  Digit digit{static_cast<int64_t>(places->values.size()), 0, {}};
  for (const double place : places->values) {
    if (!(place >= 0.0 && place < static_cast<double>(size))) return std::nullopt;
    digit.steps.push_back(static_cast<int64_t>(place) * inner);
  }
  MovedPart part{0, 0, {{CountBetween(in, 0, axis), size * inner, {}}, std::move(digit)}};
  if (inner > 1) part.digits.push_back({inner, 1, {}});
  return std::vector<MovedPart>{std::move(part)};
}

}  // namespace

std::optional<std::vector<MovedPart>> MovedPartsOf(const Graph& graph, const Node& node, size_t output) {
  const Shape &in = graph.value(node.inputs[0]).desc.shape, &out = graph.value(node.outputs[output]).desc.shape;
  if (const auto* op = std::get_if<Pad>(&node.op)) return Parts(*op, in, out);
  if (const auto* op = std::get_if<MirrorPad>(&node.op)) return Parts(*op, in, out);
  const auto* blocks = std::get_if<SpaceToBatch>(&node.op);
  if (blocks != nullptr && PixelsOf(*blocks) <= kMostParts) return Parts(*blocks, in, out);
  if (const auto* op = std::get_if<BatchToSpace>(&node.op)) return Parts(*op, in, out);
  const auto* resize = std::get_if<Resize>(&node.op);
  if (resize != nullptr && resize->kind == ResizeKind::kNearest) return Parts(*resize, in, out);
  if (std::holds_alternative<Gather>(node.op)) return PartsOfGather(graph, node);
  const std::optional<StridedView> view = ViewOf(graph, node, output);
  if (!view) return std::nullopt;
  MovedPart part{view->base, 0, {}};
  for (const StridedView::Digit& digit : view->digits) part.digits.push_back({digit.radix, digit.stride, {}});
  return std::vector<MovedPart>{part};
}

}  // namespace hearth
