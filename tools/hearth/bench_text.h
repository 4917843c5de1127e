// The figures of bench (of repeated timings, of layers) and their texts: tables of phases, resources, layers and
// devices, and CSV.
#ifndef HEARTH_TOOLS_HEARTH_BENCH_TEXT_H_
#define HEARTH_TOOLS_HEARTH_BENCH_TEXT_H_

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hearth/report.h"
#include "hearth/session.h"
#include "tools/hearth/printing.h"

namespace hearth {

struct RunStatistics {
  double median = 0, min = 0, p90 = 0, p99 = 0, max = 0;
  double mean = 0, deviation = 0;  // of the sample; 0 for a single time
};
// Percentiles by nearest rank, so each is a measured time; all are 0 without times.
RunStatistics StatisticsOf(std::vector<double> times);

struct LayerCost {
  std::string op;         // "conv_2d"; the entry's full name if it is no operator of the file
  std::string output;     // "1x112x112x32"; empty if unknown
  double operations = 0;  // multiplications and additions; 0 if unknown
  double giga_per_second = 0;
};
// By operator of the file, summed over its entries; under -1 those of no operator.
std::map<int, double> MillisecondsByOperator(std::span<const ProfileEntry> profile);
// One for each entry. The entries of one operator share its operations in proportion to their times.
std::vector<LayerCost> CostsOf(std::span<const ProfileEntry> profile, const Model& model);

// One device's figures, or the reason for their absence.
struct BenchResult {
  std::string device;  // as requested
  Status status;
  Report report;
  std::vector<double> times_ms;        // of the runs, in their order
  RunStatistics runs;                  // of these
  std::optional<Report> second_start;  // for the page, if the first one compiled programs
  // Hot start: the runs until the session moved or settled on the CPU, and the time of that.
  int cpu_runs_count = 0;
  RunStatistics cpu_runs;
  double settled_ms = 0;
  std::vector<ProfileEntry> profile;
  std::vector<LayerCost> costs;  // of the profile
  std::string network;           // DescribeGraph, if a picture is wanted
  Json outputs = Json::array();  // names, types, shapes
};

// `profiled_runs`: the number of runs whose median times the profile has; 0: without the profile.
std::string BenchText(const BenchResult& result, int profiled_runs);
// A table of devices side by side.
std::string DevicesText(std::span<const BenchResult> results);
// A web page: starts, layers, the distribution of the runs, memory.
std::string BenchPage(std::string_view model, std::span<const BenchResult> results);
std::string DevicesCsv(std::span<const BenchResult> results);
Json BenchJson(const BenchResult& result);

}  // namespace hearth

#endif  // HEARTH_TOOLS_HEARTH_BENCH_TEXT_H_
