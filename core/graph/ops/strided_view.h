// Moving elements as reading with strides: what most movement operations are.
#ifndef HEARTH_CORE_GRAPH_OPS_STRIDED_VIEW_H_
#define HEARTH_CORE_GRAPH_OPS_STRIDED_VIEW_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "core/graph/graph.h"

namespace hearth {

// Which element of an input each element of an output is. The output's index (in C order) is written with `digits`, a
// number in mixed radix; the input's index is base + sum of digit * stride. Stride 0 repeats, a negative one reverses.
struct StridedView {
  struct Digit {
    int64_t radix = 1, stride = 0;
    friend bool operator==(const Digit&, const Digit&) = default;
  };
  int64_t base = 0;
  std::vector<Digit> digits;  // outermost first

  // Every element stays where it is. Precondition: simplified, and as many elements on both sides.
  bool is_identity() const;
  friend bool operator==(const StridedView&, const StridedView&) = default;
};

// The same view with the fewest digits: none that is always 0, none that continues the next one.
StridedView Simplified(const StridedView& view);

// `outer`, of a value that is itself the view `inner` of something: both at once, simplified. Nothing where no strides
// say that: a digit of `outer` ends within one of `inner`, or a start and what is added to it carry from one into the
// next.
std::optional<StridedView> Composed(const StridedView& outer, const StridedView& inner);

// Where each element goes, of a view that reads each of `count` elements once.
std::optional<StridedView> Inverse(const StridedView& view, int64_t count);

// A view of a tensor of this shape, as one stride for each of its dimensions, 0 for those of one element.
std::optional<std::vector<int64_t>> StridesAlong(const StridedView& view, const Shape& shape);

// How output number `output` of a node reads input 0, simplified: for reshape, transpose, slice, split, unpack, tile,
// broadcast_to, reverse, depth_to_space and space_to_depth; nothing for other operations. Precondition: infer passed.
std::optional<StridedView> ViewOf(const Graph& graph, const Node& node, size_t output);

}  // namespace hearth

#endif  // HEARTH_CORE_GRAPH_OPS_STRIDED_VIEW_H_
