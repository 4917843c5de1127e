// Figures of repeated timings.
#ifndef HEARTH_TOOLS_HEARTH_STATISTICS_H_
#define HEARTH_TOOLS_HEARTH_STATISTICS_H_

#include <algorithm>
#include <cmath>
#include <vector>

namespace hearth {

struct RunStatistics {
  double median = 0, min = 0, p90 = 0, max = 0;
};

// Percentiles are the nearest rank's, so each is a time that was measured; all 0 without any.
inline RunStatistics StatisticsOf(std::vector<double> times) {
  if (times.empty()) return {};
  std::sort(times.begin(), times.end());
  const auto at = [&](double part) {
    const auto rank = static_cast<size_t>(std::ceil(part * static_cast<double>(times.size())));
    return times[std::max<size_t>(rank, 1) - 1];
  };
  return {at(0.5), times.front(), at(0.9), times.back()};
}

}  // namespace hearth

#endif  // HEARTH_TOOLS_HEARTH_STATISTICS_H_
