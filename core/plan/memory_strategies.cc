#include "core/plan/memory_strategies.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "core/base/error.h"
#include "core/base/round_up.h"
#include "core/plan/offset_search.h"

namespace hearth {
namespace {

constexpr size_t kNoObject = std::numeric_limits<size_t>::max();

std::vector<size_t> Indices(std::span<const TensorUsage> usages) {
  std::vector<size_t> order(usages.size());
  std::iota(order.begin(), order.end(), size_t{0});
  return order;
}

// An object plan in the making.
class ObjectSharing {
 public:
  explicit ObjectSharing(std::span<const TensorUsage> usages) : usages_(usages) {
    plan_.object_of.assign(usages.size(), kNoObject);
  }

  size_t object_count() const { return plan_.object_bytes.size(); }
  uint64_t object_bytes(size_t object) const { return plan_.object_bytes[object]; }

  // Whether no tensor of the object lives together with this one.
  bool IsFree(size_t object, size_t tensor) const { return IdleSteps(object, tensor) >= 0; }

  // Steps between this tensor and the nearest one of the object before or behind it; -1 where they meet.
  int64_t IdleSteps(size_t object, size_t tensor) const {
    int64_t idle = std::numeric_limits<int64_t>::max();
    for (size_t other : members_[object]) {
      const int64_t before = int64_t{usages_[tensor].first_step} - usages_[other].last_step;
      const int64_t behind = int64_t{usages_[other].first_step} - usages_[tensor].last_step;
      if (before <= 0 && behind <= 0) return -1;
      idle = std::min(idle, std::max(before, behind));
    }
    return idle;
  }

  // With kNoObject into an object of its own.
  void Assign(size_t tensor, size_t object) {
    if (object == kNoObject) {
      object = object_count();
      plan_.object_bytes.push_back(0);
      members_.emplace_back();
    }
    plan_.object_of[tensor] = object;
    members_[object].push_back(tensor);
    plan_.object_bytes[object] = std::max(plan_.object_bytes[object], usages_[tensor].size_bytes);
  }

  ObjectPlan Finish() { return std::move(plan_); }

 private:
  std::span<const TensorUsage> usages_;
  ObjectPlan plan_;
  std::vector<std::vector<size_t>> members_;  // per object
};

// The smallest free object that holds the tensor, else the largest free one, which then grows.
size_t LeastWaste(const ObjectSharing& sharing, const TensorUsage& usage, size_t tensor) {
  size_t best = kNoObject;
  const auto is_better = [&](uint64_t bytes, uint64_t best_bytes) {
    const bool holds = bytes >= usage.size_bytes, best_holds = best_bytes >= usage.size_bytes;
    if (holds != best_holds) return holds;
    return holds ? bytes < best_bytes : bytes > best_bytes;
  };
  for (size_t object = 0; object < sharing.object_count(); ++object) {
    if (!sharing.IsFree(object, tensor)) continue;
    if (best == kNoObject || is_better(sharing.object_bytes(object), sharing.object_bytes(best))) best = object;
  }
  return best;
}

ObjectPlan ShareEqualSizes(std::span<const TensorUsage> usages) {
  ObjectSharing sharing(usages);
  std::vector<size_t> order = Indices(usages);
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return usages[a].first_step < usages[b].first_step; });
  for (size_t tensor : order) {
    size_t found = kNoObject;
    for (size_t object = 0; object < sharing.object_count() && found == kNoObject; ++object) {
      const bool is_equal = sharing.object_bytes(object) == usages[tensor].size_bytes;
      if (is_equal && sharing.IsFree(object, tensor)) found = object;
    }
    sharing.Assign(tensor, found);
  }
  return sharing.Finish();
}

ObjectPlan ShareInOrder(std::span<const TensorUsage> usages, std::span<const size_t> order) {
  ObjectSharing sharing(usages);
  for (size_t tensor : order) sharing.Assign(tensor, LeastWaste(sharing, usages[tensor], tensor));
  return sharing.Finish();
}

// Largest first: every object made so far is large enough, so what counts is that objects lie idle shortly.
ObjectPlan ShareBySize(std::span<const TensorUsage> usages) {
  ObjectSharing sharing(usages);
  std::vector<size_t> order = Indices(usages);
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return usages[a].size_bytes > usages[b].size_bytes; });
  for (size_t tensor : order) {
    size_t best = kNoObject;
    for (size_t object = 0; object < sharing.object_count(); ++object) {
      const int64_t idle = sharing.IdleSteps(object, tensor);
      if (idle >= 0 && (best == kNoObject || idle < sharing.IdleSteps(best, tensor))) best = object;
    }
    sharing.Assign(tensor, best);
  }
  return sharing.Finish();
}

// Which row takes which column at the least sum of costs, every row one of its own: the Hungarian method with
// potentials, row by row along shortest paths (Kuhn 1955, Munkres 1957). `cost(row, column)` may be "infinite".
template <typename Cost>
std::vector<size_t> CheapestAssignment(size_t rows, size_t columns, const Cost& cost) {
  constexpr double kFar = std::numeric_limits<double>::max();
  std::vector<double> row_potential(rows + 1), column_potential(columns + 1);
  std::vector<size_t> row_of(columns + 1, rows), came_from(columns + 1);  // the last column is where a row begins
  for (size_t row = 0; row < rows; ++row) {
    std::vector<double> distance(columns, kFar);
    std::vector<bool> is_done(columns + 1, false);
    size_t column = columns;
    row_of[column] = row;
    while (row_of[column] != rows) {
      is_done[column] = true;
      double step = kFar;
      size_t next = columns;
      for (size_t k = 0; k < columns; ++k) {
        if (is_done[k]) continue;
        const double reduced = cost(row_of[column], k) - row_potential[row_of[column]] - column_potential[k];
        if (reduced < distance[k]) {
          distance[k] = reduced;
          came_from[k] = column;
        }
        if (distance[k] < step) {
          step = distance[k];
          next = k;
        }
      }
      for (size_t k = 0; k <= columns; ++k) {
        if (is_done[k]) {
          row_potential[row_of[k]] += step;
          column_potential[k] -= step;
        } else if (k < columns) {
          distance[k] -= step;
        }
      }
      column = next;
    }
    for (; column != columns; column = came_from[column]) row_of[column] = row_of[came_from[column]];
    row_of[columns] = rows;
  }
  std::vector<size_t> column_of(rows);
  for (size_t k = 0; k < columns; ++k) {
    if (row_of[k] != rows) column_of[row_of[k]] = k;
  }
  return column_of;
}

// Flow through a graph of two sides: a tensor takes over the object of one that ended before it, at the price of what
// the object must grow, or gets one of its own at the price of its size. As every tensor takes one object and hands it
// on at most once, the flow is an assignment. The price knows only the tensor before: 10, 2, 10 bytes in one object
// count as 18.
ObjectPlan ShareByMinCostFlow(std::span<const TensorUsage> usages) {
  const size_t count = usages.size();
  constexpr double kImpossible = 1e18;
  const auto cost = [&](size_t tensor, size_t column) {
    const auto size = static_cast<double>(usages[tensor].size_bytes);
    if (column >= count) return column - count == tensor ? size : kImpossible;
    if (usages[column].last_step >= usages[tensor].first_step) return kImpossible;
    return std::max(0.0, size - static_cast<double>(usages[column].size_bytes));
  };
  const std::vector<size_t> column_of = CheapestAssignment(count, 2 * count, cost);
  std::vector<size_t> order = Indices(usages);
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return usages[a].first_step < usages[b].first_step; });
  ObjectSharing sharing(usages);
  std::vector<size_t> object_of(count, kNoObject);
  for (size_t tensor : order) {
    const bool is_own = column_of[tensor] >= count;
    object_of[tensor] = is_own ? sharing.object_count() : object_of[column_of[tensor]];
    sharing.Assign(tensor, is_own ? kNoObject : object_of[tensor]);
  }
  return sharing.Finish();
}

ObjectPlan BestObjects(std::span<const TensorUsage> usages) {
  ObjectPlan best = PlanObjects(usages, MemoryStrategy::kNaive);
  for (MemoryStrategy strategy : kMemoryStrategies) {
    if (strategy == MemoryStrategy::kBest) continue;
    ObjectPlan plan = PlanObjects(usages, strategy);
    if (plan.total_bytes() < best.total_bytes()) best = std::move(plan);
  }
  return best;
}

}  // namespace

std::string_view MemoryStrategyName(MemoryStrategy strategy) {
  constexpr std::string_view kNames[] = {
      "naive", "equality", "greedy in order", "greedy by breadth", "greedy by size", "min-cost flow", "best"};
  return kNames[static_cast<size_t>(strategy)];
}

uint64_t ObjectPlan::total_bytes() const {
  return std::accumulate(object_bytes.begin(), object_bytes.end(), uint64_t{0});
}

ObjectPlan PlanObjects(std::span<const TensorUsage> usages, MemoryStrategy strategy) {
  switch (strategy) {
    case MemoryStrategy::kNaive: {
      ObjectSharing sharing(usages);
      for (size_t tensor = 0; tensor < usages.size(); ++tensor) sharing.Assign(tensor, kNoObject);
      return sharing.Finish();
    }
    case MemoryStrategy::kEquality: return ShareEqualSizes(usages);
    case MemoryStrategy::kGreedyInOrder: {
      std::vector<size_t> order = Indices(usages);
      std::stable_sort(order.begin(), order.end(),
                       [&](size_t a, size_t b) { return usages[a].first_step < usages[b].first_step; });
      return ShareInOrder(usages, order);
    }
    case MemoryStrategy::kGreedyByBreadth: return ShareInOrder(usages, OrderByBreadth(usages));
    case MemoryStrategy::kMinCostFlow:
      if (usages.size() <= kMinCostFlowTensors) return ShareByMinCostFlow(usages);
      return ShareBySize(usages);
    case MemoryStrategy::kGreedyBySize: return ShareBySize(usages);
    case MemoryStrategy::kBest: return BestObjects(usages);
  }
  HEARTH_CHECK(false);
}

OffsetPlan PlanOffsets(std::span<const TensorUsage> usages, MemoryStrategy strategy, uint64_t alignment) {
  HEARTH_CHECK(alignment > 0);
  if (strategy == MemoryStrategy::kGreedyBySize) return PlanOffsetsGreedyBySize(usages, alignment);
  if (strategy == MemoryStrategy::kGreedyByBreadth) {
    return PlaceIntoGaps(usages, OrderByBreadth(usages), alignment);
  }
  if (strategy == MemoryStrategy::kBest) return SearchOffsets(usages, alignment);
  const ObjectPlan objects = PlanObjects(usages, strategy);
  std::vector<uint64_t> object_offsets;
  OffsetPlan plan;
  for (uint64_t bytes : objects.object_bytes) {
    object_offsets.push_back(RoundUp(plan.total_bytes, alignment));
    plan.total_bytes = object_offsets.back() + bytes;
  }
  for (size_t tensor = 0; tensor < usages.size(); ++tensor) {
    plan.offsets.push_back(usages[tensor].size_bytes == 0 ? 0 : object_offsets[objects.object_of[tensor]]);
  }
  return plan;
}

}  // namespace hearth
