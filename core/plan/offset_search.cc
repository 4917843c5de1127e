#include "core/plan/offset_search.h"

#include <algorithm>
#include <utility>

#include "core/base/error.h"
#include "core/base/numbers.h"

namespace hearth {
namespace {

constexpr size_t kMostTries = 2000;
constexpr size_t kComparisons = 8'000'000;  // a try compares up to the square of the number of tensors
constexpr uint64_t kLeastGain = 4096;       // a page; 2000 tries of a network with 5 KB took 5 ms of a start
constexpr size_t kMostFound = 64;           // as many as a session keeps shapes

constexpr uint64_t KeyOf(int64_t step) {
  return static_cast<uint64_t>(step) ^ (uint64_t{1} << 63);  // negative ones first
}

std::vector<size_t> OrderOfExecution(std::span<const TensorUsage> usages) {
  std::vector<uint64_t> keys;
  for (const TensorUsage& usage : usages) keys.push_back(KeyOf(usage.first_step));
  return OrderByKeys(keys);
}

std::vector<size_t> OrderOfExecutionBackwards(std::span<const TensorUsage> usages) {
  std::vector<uint64_t> keys;
  for (const TensorUsage& usage : usages) keys.push_back(~KeyOf(usage.last_step));
  return OrderByKeys(keys);
}

// Lists of neighbours hold at most kMostPairs pairs, and one in kShareOfPairs of all. Beyond that, comparing with all
// placed tensors is faster than sorting each one's neighbours, and takes no memory.
constexpr size_t kMostPairs = size_t{1} << 21;
constexpr size_t kShareOfPairs = 16;

bool LiveTogether(const TensorUsage& a, const TensorUsage& b) {
  return a.first_step <= b.last_step && b.first_step <= a.last_step;
}

}  // namespace

OffsetPlan SearchOffsets(std::span<const TensorUsage> usages, uint64_t alignment) {
  // Of sizes as they are placed: small tensors' own sizes give a bound that no plan reaches.
  std::vector<TensorUsage> padded(usages.begin(), usages.end());
  for (TensorUsage& usage : padded) usage.size_bytes = RoundUp(usage.size_bytes, alignment);
  const uint64_t bound = LowerBoundBytes(padded);
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
  for (size_t turn = 0; turn < tries && best.total_bytes >= bound + kLeastGain; ++turn) {
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

GapPlacer::GapPlacer(std::span<const TensorUsage> usages, uint64_t alignment) : usages_(usages) {
  HEARTH_CHECK(alignment > 0);
  for (const TensorUsage& usage : usages) padded_bytes_.push_back(RoundUp(usage.size_bytes, alignment));
  FindNeighbours();
}

// Loops that are written out keep each turn's result to the end: 1600 of them live together with everything.
void GapPlacer::FindNeighbours() {
  constexpr int kLongSteps = 64;
  if (ListNeighbours()) return;
  for (const TensorUsage& usage : usages_) is_long_.push_back(usage.last_step - usage.first_step > kLongSteps);
  if (!ListNeighbours()) is_long_.clear();
}

bool GapPlacer::ListNeighbours() {
  const size_t most_pairs = std::min(kMostPairs, usages_.size() * usages_.size() / kShareOfPairs);
  std::vector<uint32_t> alive;
  neighbours_.assign(usages_.size(), {});
  size_t pairs = 0;
  for (const size_t at : OrderOfExecution(usages_)) {
    const auto index = static_cast<uint32_t>(at);
    if (usages_[index].size_bytes == 0 || (!is_long_.empty() && is_long_[index])) continue;
    std::erase_if(alive, [&](uint32_t other) { return usages_[other].last_step < usages_[index].first_step; });
    pairs += alive.size();
    if (pairs > most_pairs) {
      neighbours_.clear();
      return false;
    }
    for (const uint32_t other : alive) {
      neighbours_[index].push_back(other);
      neighbours_[other].push_back(index);
    }
    alive.push_back(index);
  }
  return true;
}

void GapPlacer::FindLive(size_t index) {
  live_.clear();
  const auto add_of = [&](const std::vector<size_t>& placed) {
    for (const size_t other : placed) {
      if (LiveTogether(usages_[other], usages_[index])) live_.push_back(places_[other]);
    }
  };
  if (neighbours_.empty() || (!is_long_.empty() && is_long_[index])) return add_of(placed_);
  for (const uint32_t other : neighbours_[index]) {
    if (places_[other].end != 0) live_.push_back(places_[other]);
  }
  std::ranges::sort(live_, {}, &Range::begin);
  const auto listed = ssize(live_);
  add_of(placed_long_);
  std::ranges::inplace_merge(live_, live_.begin() + listed, {}, &Range::begin);
}

// The start of the smallest sufficient gap in live_, or the end of the last range.
uint64_t GapPlacer::BestFit(uint64_t size_bytes) const {
  uint64_t best_offset = 0, best_slack = std::numeric_limits<uint64_t>::max();
  uint64_t free_from = 0;  // the end of the ranges so far
  for (const Range& range : live_) {
    if (range.begin >= free_from + size_bytes) {
      const uint64_t slack = range.begin - free_from - size_bytes;
      if (slack < best_slack) {
        best_slack = slack;
        best_offset = free_from;
      }
    }
    free_from = std::max(free_from, range.end);
  }
  return best_slack == std::numeric_limits<uint64_t>::max() ? free_from : best_offset;
}

std::optional<OffsetPlan> GapPlacer::Place(std::span<const size_t> order, uint64_t most_bytes) {
  OffsetPlan plan;
  plan.offsets.assign(usages_.size(), 0);
  places_.assign(usages_.size(), {});
  placed_.clear();
  placed_long_.clear();
  for (const size_t index : order) {
    const uint64_t size_bytes = usages_[index].size_bytes;
    if (size_bytes == 0) continue;
    FindLive(index);
    const uint64_t offset = BestFit(size_bytes);
    plan.offsets[index] = offset;
    plan.total_bytes = std::max(plan.total_bytes, offset + size_bytes);
    if (plan.total_bytes > most_bytes) return std::nullopt;
    places_[index] = {offset, offset + padded_bytes_[index]};
    const auto insert = [&](std::vector<size_t>& placed) {
      const auto begin_of = [&](size_t other) { return places_[other].begin; };
      placed.insert(std::ranges::upper_bound(placed, offset, {}, begin_of), index);
    };
    if (neighbours_.empty() || !is_long_.empty()) insert(placed_);
    if (!is_long_.empty() && is_long_[index]) insert(placed_long_);
  }
  return plan;
}

}  // namespace hearth
