#include "core/plan/offset_search.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace hearth {
namespace {

constexpr size_t kMostTries = 2000;
constexpr size_t kComparisons = 8'000'000;  // a try costs about the square of the number of tensors

struct Candidate {
  std::vector<size_t> order;
  OffsetPlan plan;
};

std::vector<std::vector<size_t>> FirstOrders(std::span<const TensorUsage> usages) {
  std::vector<size_t> by_size(usages.size());
  std::iota(by_size.begin(), by_size.end(), size_t{0});
  std::vector<size_t> in_order = by_size, backwards = by_size;
  std::stable_sort(by_size.begin(), by_size.end(),
                   [&](size_t a, size_t b) { return usages[a].size_bytes > usages[b].size_bytes; });
  std::stable_sort(in_order.begin(), in_order.end(),
                   [&](size_t a, size_t b) { return usages[a].first_step < usages[b].first_step; });
  std::stable_sort(backwards.begin(), backwards.end(),
                   [&](size_t a, size_t b) { return usages[a].last_step > usages[b].last_step; });
  return {by_size, OrderByBreadth(usages), in_order, backwards};
}

}  // namespace

OffsetPlan SearchOffsets(std::span<const TensorUsage> usages, uint64_t alignment) {
  const uint64_t bound = LowerBoundBytes(usages);
  Candidate best;
  for (std::vector<size_t>& order : FirstOrders(usages)) {
    OffsetPlan plan = PlaceIntoGaps(usages, order, alignment);
    if (best.order.empty() || plan.total_bytes < best.plan.total_bytes) best = {std::move(order), std::move(plan)};
    if (best.plan.total_bytes <= bound) return best.plan;
  }
  const size_t tries = std::min(kMostTries, kComparisons / (usages.size() * usages.size()));
  uint32_t number = 1;
  for (size_t turn = 0; turn < tries && best.plan.total_bytes > bound; ++turn) {
    number = number * 1664525u + 1013904223u;  // Knuth, "The Art of Computer Programming", 2, 3.3.4
    std::vector<size_t> order = best.order;
    std::swap(order[(number >> 4) % order.size()], order[(number >> 20) % order.size()]);
    OffsetPlan plan = PlaceIntoGaps(usages, order, alignment);
    if (plan.total_bytes <= best.plan.total_bytes) best = {std::move(order), std::move(plan)};
  }
  return best.plan;
}

}  // namespace hearth
