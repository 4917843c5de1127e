#include "cache/put_order.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

#include "cache/budget.h"

namespace hearth {
namespace {

struct Sums {
  double cost_ms = 0, bytes = 0;
};

}  // namespace

std::vector<size_t> MostWorthFirst(std::span<const PutSize> entries) {
  std::map<Fingerprint, Sums> sums;  // under the source's digest where the entries have one
  for (const PutSize& entry : entries) {
    Sums& sum = sums[entry.source.value_or(entry.digest)];
    sum.cost_ms += std::isfinite(entry.cost_ms) ? std::max(entry.cost_ms, kLeastCostMs) : kLeastCostMs;
    sum.bytes += static_cast<double>(entry.bytes) + kRowBytes;
  }
  const auto worth = [&](const PutSize& entry) {
    const Sums& sum = sums.at(entry.source.value_or(entry.digest));
    return sum.cost_ms / sum.bytes;
  };
  std::vector<std::pair<double, bool>> ranks;  // less comes first
  for (const PutSize& entry : entries) ranks.emplace_back(-worth(entry), entry.source.has_value());
  std::vector<size_t> order(entries.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return ranks[a] < ranks[b]; });
  return order;
}

}  // namespace hearth
