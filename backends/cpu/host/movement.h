// The source of each element of an output that only moves elements.
#ifndef HEARTH_BACKENDS_CPU_HOST_MOVEMENT_H_
#define HEARTH_BACKENDS_CPU_HOST_MOVEMENT_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "core/graph/graph.h"

namespace hearth {

// A dense part of the output, indexed by digits, the last one the fastest. The element with digits (i, j, ...) is the
// input's element `source` + the step of i + the step of j + ..., or zero if a digit has no step.
struct MovedPart {
  static constexpr int64_t kZero = INT64_MIN;
  struct Digit {
    int64_t radix = 1, stride = 0;
    std::vector<int64_t> steps;  // one per value, or empty: the value times `stride`
    bool is_regular() const { return steps.empty(); }
  };
  int64_t source = 0, target = 0;
  std::vector<Digit> digits;
};

// The parts that make up output number `output`; nullopt for operations that do more than move elements of input 0, or
// that would have too many parts. Precondition: the input has elements.
[[gnu::cold]] std::optional<std::vector<MovedPart>> MovedPartsOf(const Graph& graph, const Node& node, size_t output);

}  // namespace hearth

#endif  // HEARTH_BACKENDS_CPU_HOST_MOVEMENT_H_
