// Tensors with limited lifetimes, placed one after the other into the smallest gap that fits.
//
// In OrderBySize it is "greedy by size" of Pisarchyk and Lee, "Efficient Memory Management for Deep Neural Net
// Inference" (2020), section 5.2.
#ifndef HEARTH_CORE_PLAN_GAP_PLACER_H_
#define HEARTH_CORE_PLAN_GAP_PLACER_H_

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "core/plan/memory_planner.h"

namespace hearth {

// Places the same tensors in many orders; which of them live together is computed once. `usages` must outlive it.
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
  // Fills live_ with the ranges of placed tensors that live together with this one, ascending.
  void FindLive(size_t index);
  uint64_t BestFit(uint64_t size_bytes) const;

  std::span<const TensorUsage> usages_;
  std::vector<uint64_t> padded_bytes_;             // sizes, rounded up to the alignment
  std::vector<std::vector<uint32_t>> neighbours_;  // tensors that live together; empty if most of them do
  std::vector<Range> places_;                      // by index; empty: not placed
  std::vector<size_t> placed_;                     // ascending, if neighbours_ is empty
  std::vector<Range> live_;
};

}  // namespace hearth

#endif  // HEARTH_CORE_PLAN_GAP_PLACER_H_
