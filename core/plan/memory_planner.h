// Tensors with limited lifetimes that share one arena: orders for placing them, and lower bounds.
#ifndef HEARTH_CORE_PLAN_MEMORY_PLANNER_H_
#define HEARTH_CORE_PLAN_MEMORY_PLANNER_H_

#include <algorithm>
#include <cstdint>
#include <numeric>
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

// Indices of the usages by one of their members; equal ones keep their order, so that plans are reproducible.
template <typename Comparison, typename Member>
std::vector<size_t> OrderBy(std::span<const TensorUsage> usages, Comparison comes_before, Member TensorUsage::*member) {
  std::vector<size_t> order(usages.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, comes_before, [&](size_t index) { return usages[index].*member; });
  return order;
}
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
