// Views of a tensor by strides, which describe most operations that move elements.
#ifndef HEARTH_CORE_GRAPH_STRIDED_VIEW_H_
#define HEARTH_CORE_GRAPH_STRIDED_VIEW_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/graph/types.h"

namespace hearth {

// Maps each output element to an input element. The output's index (in C order) is written in `digits`, a number in
// mixed radix. The input's index is base + sum of digit * stride. Stride 0 repeats, a negative one reverses.
struct StridedView {
  struct Digit {
    int64_t radix = 1, stride = 0;
    friend bool operator==(const Digit&, const Digit&) = default;
  };
  int64_t base = 0;
  std::vector<Digit> digits;  // outermost first

  // Whether every element stays in place. Precondition: simplified, with equally many elements on both sides.
  bool is_identity() const;
  friend bool operator==(const StridedView&, const StridedView&) = default;
};

// The same view with the fewest digits: without digits that are always 0 or continue the next one.
StridedView Simplified(const StridedView& view);

// The view `outer` of a value that is itself the view `inner` of another one, as one simplified view. Nothing if
// strides can't express it: a digit of `outer` ends within one of `inner`, or the sum of a start and a step carries
// from one digit of `inner` into the next.
std::optional<StridedView> Composed(const StridedView& outer, const StridedView& inner);

// The output index of each input element, for a view that reads each of `count` elements once.
std::optional<StridedView> Inverse(const StridedView& view, int64_t count);

// A view of a tensor of this shape as one stride per dimension, 0 for dimensions of one element.
std::optional<std::vector<int64_t>> StridesAlong(const StridedView& view, const Shape& shape);

// Writes the elements of `size` bytes that the view reads, in its order. Precondition: one output element at least.
void CopyView(const StridedView& view, int64_t size, const std::byte* from, std::byte* to);

}  // namespace hearth

#endif  // HEARTH_CORE_GRAPH_STRIDED_VIEW_H_
