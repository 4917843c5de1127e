// Loops over an output and the operands that are broadcast to it, in as few and as long rows as possible.
#ifndef HEARTH_BACKENDS_CPU_HOST_BROADCAST_ROWS_H_
#define HEARTH_BACKENDS_CPU_HOST_BROADCAST_ROWS_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "backends/cpu/host/vectorized.h"
#include "core/graph/types.h"

namespace hearth {

template <size_t kOperands>
class BroadcastRows {
 public:
  using Places = std::array<int64_t, kOperands>;

  // Precondition: each operand broadcasts to `out` by numpy's rules, and `out` has elements.
  BroadcastRows(const Shape& out, const std::array<Shape, kOperands>& operands) {
    std::array<int64_t, kOperands> dense;
    dense.fill(1);
    for (int d = out.rank() - 1; d >= 0; --d) {
      Digit digit{out[d], {}};
      for (size_t k = 0; k < kOperands; ++k) {
        const int own = d - out.rank() + operands[k].rank();
        const int64_t size = own < 0 ? 1 : operands[k][own];
        digit.steps[k] = size == 1 ? 0 : dense[k];
        dense[k] *= size;
      }
      if (out[d] != 1) Append(digit);
    }
    if (digits_.empty()) digits_.push_back({1, {}});
  }

  // The step of each operand from element to element in a row: 0 or 1.
  const Places& steps() const { return digits_[0].steps; }

  // Calls visit(index of the first output element, number of elements, index of each operand's first element) for each
  // row or part of one in [begin, end).
  template <typename Visit>
  HEARTH_INTO_CALLER void ForPart(int64_t begin, int64_t end, const Visit& visit) const {
    const int64_t length = digits_[0].radix, in_row = begin % length;
    Row row = RowAt(begin / length);
    Places places = row.places;
    for (size_t k = 0; k < kOperands; ++k) places[k] += in_row * digits_[0].steps[k];
    int64_t at = begin, count = std::min(length - in_row, end - begin);
    while (at < end) {
      visit(at, count, places);
      at += count;
      count = std::min(length, end - at);
      GoOn(row);
      places = row.places;
    }
  }

 private:
  struct Digit {
    int64_t radix = 1;
    Places steps{};
  };

  struct Row {
    Places places{};
    std::array<int64_t, Shape::kMaxRank> values{};  // of the digits behind the first one
  };

  // The next two are no part of the loops, which have a copy for each function and set of instructions.
  [[gnu::noinline]] Row RowAt(int64_t index) const {
    Row row;
    for (size_t d = 1; d < digits_.size(); ++d) {
      const int64_t value = index % digits_[d].radix;
      index /= digits_[d].radix;
      row.values[d] = value;
      for (size_t k = 0; k < kOperands; ++k) row.places[k] += value * digits_[d].steps[k];
    }
    return row;
  }

  [[gnu::noinline]] void GoOn(Row& row) const {
    for (size_t d = 1; d < digits_.size(); ++d) {
      const Digit& digit = digits_[d];
      for (size_t k = 0; k < kOperands; ++k) row.places[k] += digit.steps[k];
      if (++row.values[d] < digit.radix) return;
      row.values[d] = 0;
      for (size_t k = 0; k < kOperands; ++k) row.places[k] -= digit.radix * digit.steps[k];
    }
  }

  // Adds the next outer digit, merged into the last one if it continues it.
  void Append(const Digit& digit) {
    if (!digits_.empty()) {
      Digit& last = digits_.back();
      bool continues = true;
      for (size_t k = 0; k < kOperands; ++k) continues = continues && digit.steps[k] == last.steps[k] * last.radix;
      if (continues) {
        last.radix *= digit.radix;
        return;
      }
    }
    digits_.push_back(digit);
  }

  std::vector<Digit> digits_;  // innermost first
};

// One part of an output whose elements are a function of two operands'.
struct PairsPart {
  const BroadcastRows<2>& rows;
  const std::byte *a, *b;
  std::byte* y;
  int64_t begin, end;
};

// Elements of a row that are computed at once where an operand does not move.
inline constexpr int64_t kMostRepeated = 256;

// y = function(a, b) with the calling code's instructions. Either operand may be one element for a whole row: that is
// repeated, as a loop for each case would be 11 KB of code. With the same instructions, because wider loads of what was
// just stored wait for the first cache.
template <typename In, typename Out, typename Function>
HEARTH_INTO_CALLER inline void ComputePairs(const PairsPart& part, Function function) {
  const bool moves_a = part.rows.steps()[0] != 0;
  const bool moves_b = part.rows.steps()[1] != 0 || !moves_a;  // where neither moves, a row has one element
  In repeated[kMostRepeated];
  part.rows.ForPart(part.begin, part.end,
                    [&](int64_t at, int64_t count, const BroadcastRows<2>::Places& places) HEARTH_INTO_CALLER {
                      const In *a = reinterpret_cast<const In*>(part.a) + places[0],
                               *b = reinterpret_cast<const In*>(part.b) + places[1];
                      Out* y = reinterpret_cast<Out*>(part.y) + at;
                      const int64_t at_once = moves_a && moves_b ? count : std::min(count, kMostRepeated);
                      if (!moves_a || !moves_b) {
                        const In fixed = moves_a ? *b : *a;
                        for (int64_t k = 0; k < at_once; ++k) repeated[k] = fixed;
                      }
                      if (!moves_a) a = repeated;
                      if (!moves_b) b = repeated;
                      for (int64_t first = 0; first < count; first += at_once) {
                        const int64_t length = std::min(at_once, count - first);
                        HEARTH_INDEPENDENT for (int64_t k = 0; k < length; ++k) y[k] = function(a[k], b[k]);
                        y += length;
                        if (moves_a) a += length;
                        if (moves_b) b += length;
                      }
                    });
}

}  // namespace hearth

#endif  // HEARTH_BACKENDS_CPU_HOST_BROADCAST_ROWS_H_
