// Searches for offsets of tensors when no single order of placing them is good enough.
#ifndef HEARTH_CORE_PLAN_OFFSET_SEARCH_H_
#define HEARTH_CORE_PLAN_OFFSET_SEARCH_H_

#include <cstdint>
#include <deque>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "core/plan/memory_planner.h"

namespace hearth {

// The smallest plan that a bounded search finds: it places tensors into gaps in several orders (by size, by breadth, of
// execution forwards and backwards), then repeatedly swaps two tensors of the best order, drawn from a fixed sequence
// of numbers, and keeps swaps that do not make the plan larger. It ends as soon as the lower bound is reached up to a
// page, which the first order does on most networks; BlazeFace (74 tensors) needs some 100 swaps. (Moving the topmost
// tensors instead found no better plan in 70,000 tries.) Deterministic. Precondition: alignment > 0.
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

// Places tensors with limited lifetimes, one after the other, into the smallest gap that fits. In OrderBySize it is
// "greedy by size" of Pisarchyk and Lee, "Efficient Memory Management for Deep Neural Net Inference" (2020), section
// 5.2. Places the same tensors in many orders; which of them live together is computed once. `usages` must outlive it.
class GapPlacer {
 public:
  // Precondition: alignment > 0.
  GapPlacer(std::span<const TensorUsage> usages, uint64_t alignment);

  // The tensors in `order` (each index once), each into the smallest gap that fits between those placed before it that
  // live at the same time. Tensors of 0 bytes get offset 0. Deterministic: equal usages give equal plans. nullopt if it
  // needs more than `most_bytes`.
  std::optional<OffsetPlan> Place(std::span<const size_t> order,
                                  uint64_t most_bytes = std::numeric_limits<uint64_t>::max());

 private:
  struct Range {
    uint64_t begin = 0, end = 0;  // both aligned
  };

  void FindNeighbours();
  // False if there are too many pairs for lists.
  bool ListNeighbours();
  // Fills live_ with the ranges of placed tensors that live together with this one, ascending.
  void FindLive(size_t index);
  uint64_t BestFit(uint64_t size_bytes) const;

  std::span<const TensorUsage> usages_;
  std::vector<uint64_t> padded_bytes_;  // sizes, rounded up to the alignment
  // Tensors that live together; empty if most of them do. Long-lived ones, if any are told apart, are in no list.
  std::vector<std::vector<uint32_t>> neighbours_;
  std::vector<bool> is_long_;                 // empty: none is told apart
  std::vector<Range> places_;                 // by index; empty: not placed
  std::vector<size_t> placed_, placed_long_;  // ascending, if lists do not tell all neighbours
  std::vector<Range> live_;
};

}  // namespace hearth

#endif  // HEARTH_CORE_PLAN_OFFSET_SEARCH_H_
