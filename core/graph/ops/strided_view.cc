#include "core/graph/ops/strided_view.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <span>
#include <variant>

#include "core/graph/element.h"

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

// Expresses `radix` steps of a stride of `outer` in the digits of a view, innermost first. Nothing if they end within a
// digit. `reach` adds up the largest step in each digit.
std::optional<std::vector<StridedView::Digit>> Taken(StridedView::Digit outer,
                                                     std::span<const StridedView::Digit> digits,
                                                     std::vector<int64_t>& reach) {
  std::vector<StridedView::Digit> taken;
  int64_t below = 1;  // elements that one step of digit k spans
  for (size_t k = digits.size(); k-- > 0 && outer.radix > 1; below *= digits[k].radix) {
    const int64_t span = below * digits[k].radix;
    if (outer.stride >= span) continue;
    if (outer.stride % below != 0) return std::nullopt;
    const int64_t step = outer.stride / below, steps = std::min(outer.radix, digits[k].radix / step);
    if (outer.radix % steps != 0 || (steps < outer.radix && digits[k].radix % step != 0)) return std::nullopt;
    taken.push_back({steps, step * digits[k].stride});
    reach[k] += (steps - 1) * step;
    outer = {outer.radix / steps, span};
  }
  if (outer.radix > 1) return std::nullopt;
  return taken;
}

template <typename Other>
std::nullopt_t View(const Other&, const Shapes&, size_t /*output*/) {
  return std::nullopt;
}

}  // namespace

bool StridedView::is_identity() const {
  return base == 0 && (digits.empty() || (digits.size() == 1 && digits[0].stride == 1));
}

StridedView Simplified(const StridedView& view) {
  StridedView simple{view.base, {}};
  for (const StridedView::Digit& digit : view.digits) {
    if (digit.radix == 1) continue;
    if (!simple.digits.empty() && simple.digits.back().stride == digit.radix * digit.stride) {
      simple.digits.back() = {simple.digits.back().radix * digit.radix, digit.stride};
    } else {
      simple.digits.push_back(digit);
    }
  }
  return simple;
}

std::optional<StridedView> Composed(const StridedView& outer, const StridedView& inner) {
  StridedView view{inner.base, {}};
  std::vector<int64_t> reach(inner.digits.size());
  int64_t rest = outer.base;
  for (size_t k = inner.digits.size(); k-- > 0; rest /= inner.digits[k].radix) {
    reach[k] = rest % inner.digits[k].radix;
    view.base += reach[k] * inner.digits[k].stride;
  }
  if (outer.base < 0 || rest > 0) return std::nullopt;
  for (const StridedView::Digit& digit : outer.digits) {
    if (digit.stride == 0) view.digits.push_back(digit);
    if (digit.stride == 0) continue;
    const auto taken = digit.stride < 0 ? std::nullopt : Taken(digit, inner.digits, reach);
    if (!taken) return std::nullopt;
    view.digits.insert(view.digits.end(), taken->rbegin(), taken->rend());
  }
  for (size_t k = 0; k < reach.size(); ++k) {
    if (reach[k] >= inner.digits[k].radix) return std::nullopt;
  }
  return Simplified(view);
}

std::optional<StridedView> Inverse(const StridedView& view, int64_t count) {
  struct Part {
    int64_t radix, from, to;  // strides in what is read, and in the inverse
  };
  std::vector<Part> parts;
  int64_t to = 1;
  for (size_t k = view.digits.size(); k-- > 0; to *= view.digits[k].radix)
    parts.push_back({view.digits[k].radix, view.digits[k].stride, to});
  std::ranges::sort(parts, std::greater(), &Part::from);
  StridedView inverse;
  int64_t left = count;
  for (const Part& part : parts) {
    if (part.from <= 0 || left != part.radix * part.from) return std::nullopt;
    inverse.digits.push_back({part.radix, part.to});
    left = part.from;
  }
  if (view.base != 0 || left != 1) return std::nullopt;
  return Simplified(inverse);
}

std::optional<std::vector<int64_t>> StridesAlong(const StridedView& view, const Shape& shape) {
  const auto own = StridesOf(shape);
  std::vector<int64_t> strides;
  for (int d = 0; d < shape.rank(); ++d) {
    const auto along = Composed({0, {{shape[d], own[d]}}}, view);
    if (!along || along->digits.size() > 1) return std::nullopt;
    strides.push_back(shape[d] == 1 || along->digits.empty() ? 0 : along->digits[0].stride);
  }
  return strides;
}

std::optional<StridedView> ViewOf(const Graph& graph, const Node& node, size_t output) {
  if (node.inputs.empty() || node.inputs[0] == kNoValue) return std::nullopt;
  const Shape& in = graph.value(node.inputs[0]).desc.shape;
  const Shapes shapes{in, graph.value(node.outputs[output]).desc.shape, StridesOf(in)};
  const auto view =
      std::visit([&](const auto& op) -> std::optional<StridedView> { return View(op, shapes, output); }, node.op);
  if (!view) return std::nullopt;
  return Simplified(*view);
}

namespace {

// The last two digits of a view, as rows of elements of one type. Of a transposed matrix squares are copied, whose
// lines stay in the cache: 5 times as fast for a layer of 3072 x 768.
template <typename Element>
void CopyRows(const StridedView::Digit& rows, const StridedView::Digit& columns, const std::byte* from, std::byte* to) {
  const int64_t square = rows.stride == 1 ? 16 : columns.radix;
  for (int64_t first_row = 0; first_row < rows.radix; first_row += 16) {
    const int64_t last_row = std::min(rows.radix, first_row + 16);
    for (int64_t first = 0; first < columns.radix; first += square) {
      const int64_t last = std::min(columns.radix, first + square);
      for (int64_t row = first_row; row < last_row; ++row) {
        for (int64_t k = first; k < last; ++k)
          StoreAt(to, row * columns.radix + k, LoadAt<Element>(from, row * rows.stride + k * columns.stride));
      }
    }
  }
}

void CopyElements(const StridedView::Digit& rows, const StridedView::Digit& columns, int64_t size,
                  const std::byte* from, std::byte* to) {
  if (columns.stride == 1) {
    for (int64_t row = 0; row < rows.radix; ++row)
      std::memcpy(to + row * columns.radix * size, from + row * rows.stride * size,
                  static_cast<size_t>(columns.radix * size));
    return;
  }
  switch (size) {
    case 1: return CopyRows<uint8_t>(rows, columns, from, to);
    case 2: return CopyRows<uint16_t>(rows, columns, from, to);
    case 4: return CopyRows<uint32_t>(rows, columns, from, to);
    default: return CopyRows<uint64_t>(rows, columns, from, to);
  }
}

// The digits from `digit` on.
void CopyDigits(const StridedView& view, size_t digit, int64_t size, const std::byte* from, std::byte*& to) {
  const size_t left = view.digits.size() - digit;
  const StridedView::Digit one, outer = left == 0 ? one : view.digits[digit];
  if (left <= 2) {
    const StridedView::Digit inner = left == 2 ? view.digits[digit + 1] : one;
    const bool is_row = left < 2;  // a single digit: one row
    CopyElements(is_row ? one : outer, is_row ? outer : inner, size, from, to);
    to += outer.radix * inner.radix * size;
    return;
  }
  for (int64_t k = 0; k < outer.radix; ++k) CopyDigits(view, digit + 1, size, from + k * outer.stride * size, to);
}

}  // namespace

void CopyView(const StridedView& view, int64_t size, const std::byte* from, std::byte* to) {
  CopyDigits(view, 0, size, from + view.base * size, to);
}

}  // namespace hearth
