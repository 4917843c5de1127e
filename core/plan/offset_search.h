// Offsets for tensors where no single order of placing them does.
#ifndef HEARTH_CORE_PLAN_OFFSET_SEARCH_H_
#define HEARTH_CORE_PLAN_OFFSET_SEARCH_H_

#include "core/plan/memory_planner.h"

namespace hearth {

// The smallest plan that a bounded search finds: it places tensors into gaps in several orders (by size, by breadth, of
// execution forwards and backwards), then swaps two tensors of the best order, drawn by a fixed sequence of numbers,
// and keeps what does not make the plan larger. Ends as soon as the lower bound is reached, which the first order does
// on most networks; BlazeFace (74 tensors) needs some 100 swaps (moving what sticks out at the top instead found no
// better plan in 70,000). Deterministic; at most some 10 ms. Precondition: alignment > 0.
OffsetPlan SearchOffsets(std::span<const TensorUsage> usages, uint64_t alignment);

}  // namespace hearth

#endif  // HEARTH_CORE_PLAN_OFFSET_SEARCH_H_
