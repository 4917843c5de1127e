// Ways to let tensors with limited lifetimes share memory.
//
// Two forms of sharing: by offsets in one arena (memory_planner.h), and by objects, where a tensor has an object of its
// own while it lives, as textures and separate buffers need it. Methods after Pisarchyk and Lee, "Efficient Memory
// Management for Deep Neural Net Inference" (2020), sections 4 and 5.
#ifndef HEARTH_CORE_PLAN_MEMORY_STRATEGIES_H_
#define HEARTH_CORE_PLAN_MEMORY_STRATEGIES_H_

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "core/plan/memory_planner.h"

namespace hearth {

enum class MemoryStrategy : uint8_t {
  kNaive,            // no sharing
  kEquality,         // an object serves tensors of one size
  kGreedyInOrder,    // in order of execution: the free object that wastes or grows least
  kGreedyByBreadth,  // steps with the most live bytes first, their largest tensor first
  kGreedyBySize,     // the largest tensor first; of free objects the one that lies idle for the shortest time
  kMinCostFlow,      // the cheapest way to hand objects on from tensor to tensor
  kBest,             // the smallest of all the others
};
inline constexpr std::array kMemoryStrategies = {MemoryStrategy::kNaive,         MemoryStrategy::kEquality,
                                                 MemoryStrategy::kGreedyInOrder, MemoryStrategy::kGreedyByBreadth,
                                                 MemoryStrategy::kGreedyBySize,  MemoryStrategy::kMinCostFlow,
                                                 MemoryStrategy::kBest};
std::string_view MemoryStrategyName(MemoryStrategy strategy);  // "naive", "greedy by size", ...

struct ObjectPlan {
  std::vector<size_t> object_of;       // one per usage
  std::vector<uint64_t> object_bytes;  // the largest tensor of each object
  uint64_t total_bytes() const;
};

// Tensors alive at the same step never share an object. Deterministic. Time: min-cost flow is O(n^3), 0.1 s for 500
// tensors; with more than kMinCostFlowTensors it is left to greedy by size. The rest is O(n^2).
ObjectPlan PlanObjects(std::span<const TensorUsage> usages, MemoryStrategy strategy);
inline constexpr size_t kMinCostFlowTensors = 500;

// Offsets in one arena. Greedy by size and by breadth place tensors into gaps, kBest searches (offset_search.h); the
// other strategies lay their objects end to end. Precondition: alignment > 0.
OffsetPlan PlanOffsets(std::span<const TensorUsage> usages, MemoryStrategy strategy, uint64_t alignment);

}  // namespace hearth

#endif  // HEARTH_CORE_PLAN_MEMORY_STRATEGIES_H_
