#include "core/graph/strided_view.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <span>

#include "core/graph/element.h"

namespace hearth {
namespace {

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
  std::vector<int64_t> strides;
  for (int d = 0; d < shape.rank(); ++d) {
    const auto along = Composed({0, {{shape[d], CountBetween(shape, d + 1, shape.rank())}}}, view);
    if (!along || along->digits.size() > 1) return std::nullopt;
    strides.push_back(shape[d] == 1 || along->digits.empty() ? 0 : along->digits[0].stride);
  }
  return strides;
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
