// Figures of repeated timings.
#ifndef HEARTH_TOOLS_HEARTH_STATISTICS_H_
#define HEARTH_TOOLS_HEARTH_STATISTICS_H_

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace hearth {

struct RunStatistics {
  double median = 0, min = 0, p90 = 0, p99 = 0, max = 0;
  double mean = 0, deviation = 0;  // of the sample; 0 for a single time
};

// Percentiles by nearest rank, so each is a measured time; all are 0 without times.
inline RunStatistics StatisticsOf(std::vector<double> times) {
  if (times.empty()) return {};
  std::sort(times.begin(), times.end());
  const auto at = [&](double part) {
    const auto rank = static_cast<size_t>(std::ceil(part * static_cast<double>(times.size())));
    return times[std::max<size_t>(rank, 1) - 1];
  };
  const auto count = static_cast<double>(times.size());
  const double mean = std::accumulate(times.begin(), times.end(), 0.0) / count;
  double squares = 0;
  for (const double time : times) squares += (time - mean) * (time - mean);
  const double deviation = times.size() > 1 ? std::sqrt(squares / (count - 1)) : 0;
  return {at(0.5), times.front(), at(0.9), at(0.99), times.back(), mean, deviation};
}

}  // namespace hearth

#endif  // HEARTH_TOOLS_HEARTH_STATISTICS_H_
