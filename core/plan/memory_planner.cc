#include "core/plan/memory_planner.h"

#include <algorithm>
#include <utility>

namespace hearth {
namespace {

struct Breadth {
  int step = 0;
  uint64_t live_bytes = 0;
};

// The live bytes at each step where a tensor begins, in order: they grow at no other step.
std::vector<Breadth> BreadthOfSteps(std::span<const TensorUsage> usages) {
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
  std::vector<Breadth> breadths;
  uint64_t live_bytes = 0;
  for (const Event& event : events) {
    live_bytes = event.begins ? live_bytes + event.size_bytes : live_bytes - event.size_bytes;
    if (!event.begins) continue;
    const auto step = static_cast<int>(event.step);
    if (breadths.empty() || breadths.back().step != step) breadths.push_back({step, 0});
    breadths.back().live_bytes = live_bytes;
  }
  return breadths;
}

}  // namespace

std::vector<size_t> OrderByKeys(std::span<const uint64_t> keys) {
  std::vector<std::pair<uint64_t, size_t>> sorted;
  for (size_t k = 0; k < keys.size(); ++k) sorted.emplace_back(keys[k], k);
  std::ranges::sort(sorted);
  std::vector<size_t> order;
  for (const auto& [key, index] : sorted) order.push_back(index);
  return order;
}

std::vector<size_t> OrderBySize(std::span<const TensorUsage> usages) {
  std::vector<uint64_t> keys;
  for (const TensorUsage& usage : usages) keys.push_back(~usage.size_bytes);
  return OrderByKeys(keys);
}

std::vector<size_t> OrderByBreadth(std::span<const TensorUsage> usages) {
  const std::vector<Breadth> steps = BreadthOfSteps(usages);
  std::vector<uint64_t> keys, turn_of_step(steps.size());
  for (const Breadth& step : steps) keys.push_back(~step.live_bytes);
  const std::vector<size_t> by_breadth = OrderByKeys(keys), by_size = OrderBySize(usages);
  for (size_t turn = 0; turn < by_breadth.size(); ++turn) turn_of_step[by_breadth[turn]] = turn;
  // For each tensor, the earliest turn of its steps.
  std::vector<uint64_t> turns;
  for (const size_t index : by_size) {
    const TensorUsage& usage = usages[index];
    const auto first = std::ranges::lower_bound(steps, usage.first_step, {}, &Breadth::step) - steps.begin();
    const auto last = std::ranges::upper_bound(steps, usage.last_step, {}, &Breadth::step) - steps.begin();
    turns.push_back(*std::min_element(turn_of_step.begin() + first, turn_of_step.begin() + last));
  }
  std::vector<size_t> order = OrderByKeys(turns);
  for (size_t& index : order) index = by_size[index];
  return order;
}

uint64_t LowerBoundBytes(std::span<const TensorUsage> usages) {
  uint64_t most = 0;
  for (const Breadth& breadth : BreadthOfSteps(usages)) most = std::max(most, breadth.live_bytes);
  return most;
}

uint64_t NaiveBytes(std::span<const TensorUsage> usages) {
  uint64_t sum = 0;
  for (const TensorUsage& usage : usages) sum += usage.size_bytes;
  return sum;
}

}  // namespace hearth
