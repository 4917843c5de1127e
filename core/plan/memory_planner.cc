#include "core/plan/memory_planner.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "core/base/error.h"

namespace hearth {
namespace {

uint64_t AlignUp(uint64_t offset, uint64_t alignment) {
  return (offset + alignment - 1) / alignment * alignment;
}

bool LiveTogether(const TensorUsage& a, const TensorUsage& b) {
  return a.first_step <= b.last_step && b.first_step <= a.last_step;
}

// Indices of the usages, largest first; equal sizes keep their order, so that plans are reproducible.
std::vector<size_t> BySizeDescending(std::span<const TensorUsage> usages) {
  std::vector<size_t> order(usages.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return usages[a].size_bytes > usages[b].size_bytes; });
  return order;
}

// The start of the smallest gap for `tensor` between the `placed` ones (ascending offsets) that live at the
// same time, or the end of the last of them.
uint64_t BestFit(std::span<const TensorUsage> usages, std::span<const uint64_t> offsets, std::span<const size_t> placed,
                 const TensorUsage& tensor, uint64_t alignment) {
  uint64_t best_offset = 0, best_slack = std::numeric_limits<uint64_t>::max();
  uint64_t free_from = 0;  // aligned end of the live tensors seen so far
  for (size_t other : placed) {
    if (!LiveTogether(usages[other], tensor)) continue;
    if (offsets[other] >= free_from + tensor.size_bytes) {
      const uint64_t slack = offsets[other] - free_from - tensor.size_bytes;
      if (slack < best_slack) {
        best_slack = slack;
        best_offset = free_from;
      }
    }
    free_from = std::max(free_from, AlignUp(offsets[other] + usages[other].size_bytes, alignment));
  }
  return best_slack == std::numeric_limits<uint64_t>::max() ? free_from : best_offset;
}

}  // namespace

OffsetPlan PlanOffsetsGreedyBySize(std::span<const TensorUsage> usages, uint64_t alignment) {
  return PlaceIntoGaps(usages, BySizeDescending(usages), alignment);
}

std::vector<size_t> OrderByBreadth(std::span<const TensorUsage> usages) {
  // Breadth grows only where a tensor begins, so the first steps of tensors are all that need be looked at.
  std::vector<std::pair<uint64_t, int>> steps;  // live bytes, step
  for (const TensorUsage& begins : usages) {
    uint64_t live_bytes = 0;
    for (const TensorUsage& usage : usages) {
      if (usage.first_step <= begins.first_step && begins.first_step <= usage.last_step) live_bytes += usage.size_bytes;
    }
    steps.emplace_back(live_bytes, begins.first_step);
  }
  std::stable_sort(steps.begin(), steps.end(), [](const auto& a, const auto& b) {
    return std::pair(b.first, a.second) < std::pair(a.first, b.second);
  });
  steps.erase(std::unique(steps.begin(), steps.end()), steps.end());
  const std::vector<size_t> by_size = BySizeDescending(usages);
  std::vector<bool> is_taken(usages.size(), false);
  std::vector<size_t> order;
  for (const auto& [live_bytes, step] : steps) {
    for (size_t index : by_size) {
      if (is_taken[index] || usages[index].first_step > step || usages[index].last_step < step) continue;
      is_taken[index] = true;
      order.push_back(index);
    }
  }
  return order;
}

OffsetPlan PlaceIntoGaps(std::span<const TensorUsage> usages, std::span<const size_t> order, uint64_t alignment) {
  HEARTH_CHECK(alignment > 0);
  OffsetPlan plan;
  plan.offsets.assign(usages.size(), 0);
  std::vector<size_t> placed;  // ascending offsets
  placed.reserve(usages.size());
  for (size_t index : order) {
    const TensorUsage& tensor = usages[index];
    if (tensor.size_bytes == 0) continue;
    const uint64_t offset = BestFit(usages, plan.offsets, placed, tensor, alignment);
    plan.offsets[index] = offset;
    plan.total_bytes = std::max(plan.total_bytes, offset + tensor.size_bytes);
    placed.insert(std::upper_bound(placed.begin(), placed.end(), offset,
                                   [&](uint64_t value, size_t other) { return value < plan.offsets[other]; }),
                  index);
  }
  return plan;
}

uint64_t LowerBoundBytes(std::span<const TensorUsage> usages) {
  struct Event {
    int64_t step;
    bool begins;  // ends (at last_step + 1) sort before begins of the same step
    uint64_t size_bytes;
  };
  std::vector<Event> events;
  events.reserve(2 * usages.size());
  for (const TensorUsage& usage : usages) {
    events.push_back({usage.first_step, true, usage.size_bytes});
    events.push_back({int64_t{usage.last_step} + 1, false, usage.size_bytes});
  }
  std::sort(events.begin(), events.end(),
            [](const Event& a, const Event& b) { return std::pair(a.step, a.begins) < std::pair(b.step, b.begins); });
  uint64_t live = 0, most = 0;
  for (const Event& event : events) {
    live = event.begins ? live + event.size_bytes : live - event.size_bytes;
    most = std::max(most, live);
  }
  return most;
}

uint64_t NaiveBytes(std::span<const TensorUsage> usages) {
  uint64_t sum = 0;
  for (const TensorUsage& usage : usages) sum += usage.size_bytes;
  return sum;
}

}  // namespace hearth
