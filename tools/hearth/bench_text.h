// The texts of bench: tables of phases, resources, layers and devices, and CSV.
#ifndef HEARTH_TOOLS_HEARTH_BENCH_TEXT_H_
#define HEARTH_TOOLS_HEARTH_BENCH_TEXT_H_

#include <span>
#include <string>
#include <vector>

#include "hearth/report.h"
#include "tools/hearth/layer_costs.h"
#include "tools/hearth/printing.h"
#include "tools/hearth/statistics.h"

namespace hearth {

// One device's figures, or the reason for their absence.
struct BenchResult {
  std::string device;  // as requested
  Status status;
  Report report;
  RunStatistics runs;
  // Hot start: the runs until the session moved or settled on the CPU, and the time of that.
  int cpu_runs_count = 0;
  RunStatistics cpu_runs;
  double settled_ms = 0;
  std::vector<ProfileEntry> profile;
  std::vector<LayerCost> costs;  // of the profile
  Json outputs = Json::array();  // names, types, shapes
};

// `profiled_runs`: the number of runs whose median times the profile has; 0: without the profile.
std::string BenchText(const BenchResult& result, int profiled_runs);
// A table of devices side by side.
std::string DevicesText(std::span<const BenchResult> results);
std::string DevicesCsv(std::span<const BenchResult> results);
Json BenchJson(const BenchResult& result);

}  // namespace hearth

#endif  // HEARTH_TOOLS_HEARTH_BENCH_TEXT_H_
