// Offsets for tensors where no single order of placing them does.
#ifndef HEARTH_CORE_PLAN_OFFSET_SEARCH_H_
#define HEARTH_CORE_PLAN_OFFSET_SEARCH_H_

#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "core/plan/memory_planner.h"

namespace hearth {

// The smallest plan that a bounded search finds: it places tensors into gaps in several orders (by size, by breadth, of
// execution forwards and backwards), then swaps two tensors of the best order, drawn by a fixed sequence of numbers,
// and keeps what does not make the plan larger. Ends as soon as the lower bound is reached, which the first order does
// on most networks; BlazeFace (74 tensors) needs some 100 swaps (moving what sticks out at the top instead found no
// better plan in 70,000). Deterministic. Precondition: alignment > 0.
OffsetPlan SearchOffsets(std::span<const TensorUsage> usages, uint64_t alignment);

// The last searches of some network's shapes: who asks with the same tensors again gets the same plan. Any thread.
class FoundOffsets {
 public:
  std::shared_ptr<const OffsetPlan> Search(std::span<const TensorUsage> usages, uint64_t alignment);

 private:
  struct Found {
    std::vector<TensorUsage> usages;
    uint64_t alignment = 0;
    std::shared_ptr<const OffsetPlan> plan;
  };
  std::shared_ptr<const OffsetPlan> Find(std::span<const TensorUsage> usages, uint64_t alignment) const;

  mutable std::mutex mutex_;
  std::deque<Found> found_;  // the oldest first
};

}  // namespace hearth

#endif  // HEARTH_CORE_PLAN_OFFSET_SEARCH_H_
