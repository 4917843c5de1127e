// Searches for offsets of tensors when no single order of placing them is good enough.
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
// execution forwards and backwards), then repeatedly swaps two tensors of the best order, drawn from a fixed sequence
// of numbers, and keeps swaps that do not make the plan larger. It ends as soon as the lower bound is reached, which
// the first order does on most networks; BlazeFace (74 tensors) needs some 100 swaps. (Moving the topmost tensors
// instead found no better plan in 70,000 tries.) Deterministic. Precondition: alignment > 0.
OffsetPlan SearchOffsets(std::span<const TensorUsage> usages, uint64_t alignment);

// Remembers the last searches: the same tensors get the same plan again. Any thread.
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
