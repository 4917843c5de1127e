// Tensors with limited lifetimes that share one arena: orders for placing them, and lower bounds.
#ifndef HEARTH_CORE_PLAN_MEMORY_PLANNER_H_
#define HEARTH_CORE_PLAN_MEMORY_PLANNER_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace hearth {

// A tensor that holds data from the step that writes it to the last step that reads it, both included.
struct TensorUsage {
  uint64_t size_bytes = 0;
  int first_step = 0;
  int last_step = 0;  // at least first_step
  friend bool operator==(const TensorUsage&, const TensorUsage&) = default;
};

struct OffsetPlan {
  std::vector<uint64_t> offsets;  // one per usage, multiples of the alignment
  uint64_t total_bytes = 0;       // the largest offset + size
};

// The indices of `keys`, the smallest key first; equal ones keep their order, so that plans are reproducible.
std::vector<size_t> OrderByKeys(std::span<const uint64_t> keys);
// Largest first.
std::vector<size_t> OrderBySize(std::span<const TensorUsage> usages);
// Steps with the most live bytes first, the largest tensor of a step first; ties in their own order.
std::vector<size_t> OrderByBreadth(std::span<const TensorUsage> usages);

// The most bytes alive at one step (the breadth): no plan can be smaller.
uint64_t LowerBoundBytes(std::span<const TensorUsage> usages);

// The sum of all sizes: the memory if every tensor had its own.
uint64_t NaiveBytes(std::span<const TensorUsage> usages);

}  // namespace hearth

#endif  // HEARTH_CORE_PLAN_MEMORY_PLANNER_H_
