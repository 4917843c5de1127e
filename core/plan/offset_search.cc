#include "core/plan/offset_search.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "core/plan/gap_placer.h"

namespace hearth {
namespace {

constexpr size_t kMostTries = 2000;
constexpr size_t kComparisons = 8'000'000;  // a try compares up to the square of the number of tensors
constexpr size_t kMostFound = 64;           // as many as a session keeps shapes

std::vector<size_t> OrderOfExecution(std::span<const TensorUsage> usages) {
  return OrderBy(usages, std::less(), &TensorUsage::first_step);
}

std::vector<size_t> OrderOfExecutionBackwards(std::span<const TensorUsage> usages) {
  return OrderBy(usages, std::greater(), &TensorUsage::last_step);
}

}  // namespace

OffsetPlan SearchOffsets(std::span<const TensorUsage> usages, uint64_t alignment) {
  const uint64_t bound = LowerBoundBytes(usages);
  GapPlacer placer(usages, alignment);
  std::vector<size_t> order = OrderBySize(usages);
  OffsetPlan best = *placer.Place(order);
  for (const auto& other_order : {OrderByBreadth, OrderOfExecution, OrderOfExecutionBackwards}) {
    if (best.total_bytes <= bound) return best;
    std::vector<size_t> other = other_order(usages);
    if (std::optional<OffsetPlan> plan = placer.Place(other, best.total_bytes - 1)) {
      best = *std::move(plan);
      order = std::move(other);
    }
  }
  const size_t tries = std::min(kMostTries, kComparisons / std::max<size_t>(1, usages.size() * usages.size()));
  uint32_t number = 1;
  for (size_t turn = 0; turn < tries && best.total_bytes > bound; ++turn) {
    number = number * 1664525u + 1013904223u;  // Knuth, "The Art of Computer Programming", 2, 3.3.4
    size_t &one = order[(number >> 4) % order.size()], &another = order[(number >> 20) % order.size()];
    std::swap(one, another);
    if (std::optional<OffsetPlan> plan = placer.Place(order, best.total_bytes)) {
      best = *std::move(plan);
    } else {
      std::swap(one, another);
    }
  }
  return best;
}

std::shared_ptr<const OffsetPlan> FoundOffsets::Find(std::span<const TensorUsage> usages, uint64_t alignment) const {
  const auto is_same = [&](const Found& found) {
    return found.alignment == alignment && std::ranges::equal(found.usages, usages);
  };
  const std::scoped_lock lock(mutex_);
  const auto found = std::ranges::find_if(found_, is_same);
  return found == found_.end() ? nullptr : found->plan;
}

std::shared_ptr<const OffsetPlan> FoundOffsets::Search(std::span<const TensorUsage> usages, uint64_t alignment) {
  if (auto known = Find(usages, alignment)) return known;
  auto plan = std::make_shared<const OffsetPlan>(SearchOffsets(usages, alignment));
  const std::scoped_lock lock(mutex_);
  found_.push_back({{usages.begin(), usages.end()}, alignment, plan});
  if (found_.size() > kMostFound) found_.pop_front();
  return plan;
}

}  // namespace hearth
