#include "tools/hearth/bench_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <numeric>

#include "runtime/model/model_data.h"
#include "tools/hearth/pictures/page.h"
#include "tools/hearth/session_flags.h"

namespace hearth {
namespace {

double ElementCount(const Shape& shape) {
  return static_cast<double>(shape.element_count());
}

// Multiplications and additions of a node; one operation per element if there are no weights.
double OperationsOf(const Graph& graph, const Node& node) {
  const Shape& out = graph.value(node.outputs.at(0)).desc.shape;
  const auto input = [&](size_t k) -> const Shape& { return graph.value(node.inputs.at(k)).desc.shape; };
  const double elements = ElementCount(out);
  if (std::holds_alternative<Conv2D>(node.op) || std::holds_alternative<ConvInteger>(node.op))
    return 2 * elements * ElementCount(input(1)) / std::max(1, input(1)[0]);
  if (std::holds_alternative<DepthwiseConv2D>(node.op)) return 2 * elements * input(1)[1] * input(1)[2];
  if (std::holds_alternative<FullyConnected>(node.op)) return 2 * elements * input(1)[1];
  if (std::holds_alternative<BatchMatMul>(node.op)) return 2 * elements * input(0)[input(0).rank() - 1];
  if (std::holds_alternative<Pool2D>(node.op)) return ElementCount(input(0));
  return elements;
}

// The N of "... (operator N)"; -1 if there is none.
int OperatorIn(const std::string& label) {
  constexpr std::string_view kMark = "(operator ";
  const size_t at = label.rfind(kMark);
  int index = -1;
  if (at != std::string::npos) std::from_chars(label.data() + at + kMark.size(), label.data() + label.size(), index);
  return index;
}

struct KindCost {
  std::string op;
  size_t entries = 0;
  double milliseconds = 0;
};

// Sums by operation, longest first.
std::vector<KindCost> SumsByKind(std::span<const ProfileEntry> profile, std::span<const LayerCost> costs) {
  std::map<std::string, KindCost> by_op;
  for (size_t k = 0; k < profile.size(); ++k) {
    KindCost& kind = by_op[costs[k].op];
    kind.op = costs[k].op;
    ++kind.entries;
    kind.milliseconds += profile[k].milliseconds;
  }
  std::vector<KindCost> sums;
  for (auto& [op, kind] : by_op) sums.push_back(std::move(kind));
  std::ranges::stable_sort(sums, std::greater(), &KindCost::milliseconds);
  return sums;
}

std::vector<Bar> StartPhases(const Report& report) {
  const auto& init = report.init_ms;
  std::vector<Bar> phases;
  for (const auto& [phase, milliseconds] : {std::pair{"open device", init.open_device},
                                            {"open cache", init.open_cache},
                                            {"read model", init.read_model},
                                            {"rewrite", init.rewrite},
                                            {"lower", init.lower},
                                            {"programs", init.programs},
                                            {"weights", init.weights},
                                            {"other", init.other},
                                            {"start in all", init.total},
                                            {"first run", report.first_run_ms},
                                            {"ready", report.ready_ms},
                                            {"save to cache", report.save_ms}}) {
    phases.push_back({phase, milliseconds, MillisecondsText(milliseconds)});
  }
  return phases;
}

std::string StartText(const Report& report) {
  TextTable table({"", ">"});
  for (const Bar& phase : StartPhases(report)) table.AddRow({phase.label, phase.text});
  return "\nstart-up, ms (phases may overlap)\n" + table.ToString();
}

std::string StartCaption(const Report& report) {
  return fmt::format("Start: {} programs compiled, {} loaded from the cache (ms; phases may overlap)",
                     report.programs.compiled, report.programs.loaded);
}

// Runs by their time, in parts of equal width.
std::vector<Bar> Histogram(std::span<const double> times_ms) {
  constexpr size_t kParts = 20;
  if (times_ms.empty()) return {};
  const auto [least, most] = std::ranges::minmax(times_ms);
  const double width = (most - least) / kParts;
  std::vector<size_t> counts(width > 0 ? kParts : 1);
  for (const double time : times_ms)
    ++counts[width > 0 ? std::min(kParts - 1, static_cast<size_t>((time - least) / width)) : 0];
  std::vector<Bar> bars;
  for (size_t k = 0; k < counts.size(); ++k) {
    const double from = least + width * static_cast<double>(k);
    bars.push_back({fmt::format("{:.3f} to {:.3f} ms", from, from + width), static_cast<double>(counts[k]),
                    std::to_string(counts[k])});
  }
  return bars;
}

std::vector<Bar> MemoryBars(const Report& report) {
  std::vector<Bar> bars;
  for (const auto& [name, bytes] : {std::pair{"weights", report.memory.weights_bytes},
                                    {"intermediate values in one arena", report.memory.arena_bytes},
                                    {"the same with a buffer each", report.memory.naive_bytes},
                                    {"the least that any plan needs", report.memory.lower_bound_bytes},
                                    {"peak of the process", report.memory.peak_rss_bytes}}) {
    bars.push_back({name, static_cast<double>(bytes), BytesText(bytes)});
  }
  return bars;
}

// The speed of a layer stands beside that of the fastest one, which shows what a roofline would.
std::vector<Bar> LayerBars(const BenchResult& result) {
  double fastest = 0;
  for (const LayerCost& cost : result.costs) fastest = std::max(fastest, cost.giga_per_second);
  std::vector<Bar> bars;
  for (size_t k = 0; k < result.profile.size(); ++k) {
    const ProfileEntry& entry = result.profile[k];
    const LayerCost& cost = result.costs[k];
    std::string text = fmt::format("{} ms, {}", MillisecondsText(entry.milliseconds), entry.kernel);
    if (cost.operations > 0 && fastest > 0) {
      text += fmt::format(", {:.2f} GFLOP/s ({:.0f} % of the fastest)", cost.giga_per_second,
                          100 * cost.giga_per_second / fastest);
    }
    bars.push_back({entry.node.empty() ? entry.kernel : entry.node, entry.milliseconds, std::move(text)});
  }
  std::ranges::stable_sort(bars, std::greater(), &Bar::value);
  return bars;
}

std::string HotText(const BenchResult& result) {
  if (result.report.start.mode != "hot") return "";
  return fmt::format(
      "\nhot start: {}; settled after {:.1f} ms; {} runs on the CPU until then, ms: median {:.3f}, p99 "
      "{:.3f}, max {:.3f}\n",
      result.report.start.reason, result.settled_ms, result.cpu_runs_count, result.cpu_runs.median, result.cpu_runs.p99,
      result.cpu_runs.max);
}

std::string ResourcesText(const Report& report) {
  std::string text =
      fmt::format("\nprograms: {} distinct, {} compiled, {} GLSL to SPIR-V, {} loaded; {} dispatches a run\n",
                  report.programs.distinct, report.programs.compiled, report.programs.spirv_compiled,
                  report.programs.loaded, report.programs.dispatches);
  text += fmt::format("transfers a run: {} to the device, {} to the host\n",
                      BytesText(report.transfers.to_device_bytes), BytesText(report.transfers.to_host_bytes));
  text += fmt::format("memory: arena {} (naive {}, lower bound {}), weights {}, peak resident {}\n",
                      BytesText(report.memory.arena_bytes), BytesText(report.memory.naive_bytes),
                      BytesText(report.memory.lower_bound_bytes), BytesText(report.memory.weights_bytes),
                      BytesText(report.memory.peak_rss_bytes));
  if (!report.cache.path.empty()) {
    text += fmt::format("cache: {} hits, {} misses, {} rejected; {} read, {} written; {}\n", report.cache.hits,
                        report.cache.misses, report.cache.rejected, BytesText(report.cache.bytes_read),
                        BytesText(report.cache.bytes_written), report.cache.path);
  }
  return text;
}

// By the mean.
double PerSecond(const RunStatistics& runs) {
  return runs.mean > 0 ? 1000 / runs.mean : 0;
}

std::string RunsText(const BenchResult& result) {
  return fmt::format(
      "\n{} runs, ms: median {:.3f}, min {:.3f}, p90 {:.3f}, p99 {:.3f}, max {:.3f}; mean {:.3f}, deviation {:.3f}; "
      "{:.1f} inferences a second; CPU threads: {}\n",
      result.report.run_ms.runs, result.runs.median, result.runs.min, result.runs.p90, result.runs.p99, result.runs.max,
      result.runs.mean, result.runs.deviation, PerSecond(result.runs), result.report.threads);
}

std::string LayersText(const BenchResult& result, double total) {
  TextTable table({">#", ">ms", ">%", ">GFLOP/s", "output", "kernel", "node"});
  for (size_t k = 0; k < result.profile.size(); ++k) {
    const ProfileEntry& entry = result.profile[k];
    const LayerCost& cost = result.costs[k];
    const double share = total > 0 ? 100 * entry.milliseconds / total : 0;
    table.AddRow({std::to_string(k), MillisecondsText(entry.milliseconds), fmt::format("{:.1f}", share),
                  cost.operations > 0 ? fmt::format("{:.2f}", cost.giga_per_second) : "", cost.output, entry.kernel,
                  entry.node});
  }
  return table.ToString();
}

std::string KindsText(const BenchResult& result, double total) {
  TextTable table({">ms", ">%", ">steps", "operation"});
  for (const KindCost& kind : SumsByKind(result.profile, result.costs)) {
    const double share = total > 0 ? 100 * kind.milliseconds / total : 0;
    table.AddRow(
        {MillisecondsText(kind.milliseconds), fmt::format("{:.1f}", share), std::to_string(kind.entries), kind.op});
  }
  return table.ToString();
}

std::string ProfileText(const BenchResult& result, int profiled_runs) {
  double total = 0;
  for (const ProfileEntry& entry : result.profile) total += entry.milliseconds;
  return fmt::format("\nprofile, median of {} runs with every step timed: {} ms\n", profiled_runs,
                     MillisecondsText(total)) +
         LayersText(result, total) + "\nby operation\n" + KindsText(result, total);
}

// Quoted if it contains a comma, a quote or a line end (RFC 4180).
std::string CsvCell(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

}  // namespace

RunStatistics StatisticsOf(std::vector<double> times) {
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

std::map<int, double> MillisecondsByOperator(std::span<const ProfileEntry> profile) {
  std::map<int, double> milliseconds;
  for (const ProfileEntry& entry : profile) milliseconds[OperatorIn(entry.node)] += entry.milliseconds;
  return milliseconds;
}

std::vector<LayerCost> CostsOf(std::span<const ProfileEntry> profile, const Model& model) {
  const Graph& graph = model.data().graph;
  std::map<int, const Node*> nodes;
  // By operator, the node with the most operations: others only move its operands.
  for (const Node& node : graph.nodes()) {
    if (node.outputs.empty()) continue;
    const auto [known, is_new] = nodes.emplace(node.source_index, &node);
    if (!is_new && OperationsOf(graph, node) > OperationsOf(graph, *known->second)) known->second = &node;
  }
  const std::map<int, double> milliseconds = MillisecondsByOperator(profile);
  std::vector<LayerCost> costs;
  for (const ProfileEntry& entry : profile) {
    const int index = OperatorIn(entry.node);
    LayerCost cost{index < 0 ? entry.node : entry.node.substr(0, entry.node.find(' ')), "", 0, 0};
    const auto found = index < 0 ? nodes.end() : nodes.find(index);
    const double together_ms = milliseconds.at(index);
    if (found != nodes.end() && together_ms > 0) {
      const Shape& shape = graph.value(found->second->outputs[0]).desc.shape;
      const double all = OperationsOf(graph, *found->second);
      cost.output = shape.ToString();
      cost.operations = all * entry.milliseconds / together_ms;
      cost.giga_per_second = all / together_ms / 1e6;
    }
    costs.push_back(std::move(cost));
  }
  return costs;
}

std::string BenchText(const BenchResult& result, int profiled_runs) {
  std::string text = DeviceText(result.report) + StartText(result.report) + HotText(result) + RunsText(result) +
                     ResourcesText(result.report);
  if (profiled_runs > 0) text += ProfileText(result, profiled_runs);
  return text;
}

std::string DevicesText(std::span<const BenchResult> results) {
  TextTable table({"device", ">ready ms", ">compiled", ">median ms", ">p90", ">p99", ">deviation", ">inferences/s",
                   "name, or why not"});
  for (const BenchResult& result : results) {
    if (!result.status.ok()) {
      table.AddRow({result.device, "", "", "", "", "", "", "", result.status.message()});
      continue;
    }
    table.AddRow({result.report.device.id, fmt::format("{:.1f}", result.report.ready_ms),
                  std::to_string(result.report.programs.compiled), MillisecondsText(result.runs.median),
                  MillisecondsText(result.runs.p90), MillisecondsText(result.runs.p99),
                  MillisecondsText(result.runs.deviation), fmt::format("{:.1f}", PerSecond(result.runs)),
                  result.report.device.name});
  }
  return "\n" + table.ToString();
}

std::string BenchPage(std::string_view model, std::span<const BenchResult> results) {
  Page page(fmt::format("hearth bench {}", model));
  std::vector<Bar> medians;
  for (const BenchResult& result : results) {
    if (result.status.ok())
      medians.push_back({result.device, result.runs.median, MillisecondsText(result.runs.median) + " ms"});
  }
  if (results.size() > 1) page.AddBars("Median of the runs", medians);
  for (const BenchResult& result : results) {
    page.AddHeading(result.device);
    if (!result.status.ok()) {
      page.AddText(result.status.message());
      continue;
    }
    page.AddText(fmt::format("{}, {}; {}", result.report.device.name, result.report.precision, RunsText(result)));
    page.AddBars(StartCaption(result.report), StartPhases(result.report));
    if (result.second_start) page.AddBars(StartCaption(*result.second_start), StartPhases(*result.second_start));
    page.AddBars("Runs by their time", Histogram(result.times_ms));
    page.AddBars("Layers, the longest first", LayerBars(result));
    page.AddBars("Memory", MemoryBars(result.report));
  }
  return page.ToString();
}

std::string DevicesCsv(std::span<const BenchResult> results) {
  std::string csv =
      "device,name,precision,runs,median_ms,min_ms,p90_ms,p99_ms,max_ms,mean_ms,deviation_ms,inferences_per_second,"
      "ready_ms,compiled,error\r\n";
  for (const BenchResult& result : results) {
    const RunStatistics& runs = result.runs;
    if (!result.status.ok()) {
      csv += fmt::format("{},,,,,,,,,,,,,,{}\r\n", CsvCell(result.device), CsvCell(result.status.message()));
      continue;
    }
    csv += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{},\r\n", CsvCell(result.report.device.id),
                       CsvCell(result.report.device.name), result.report.precision, result.report.run_ms.runs,
                       runs.median, runs.min, runs.p90, runs.p99, runs.max, runs.mean, runs.deviation, PerSecond(runs),
                       result.report.ready_ms, result.report.programs.compiled);
  }
  return csv;
}

Json BenchJson(const BenchResult& result) {
  if (!result.status.ok()) return {{"device", {{"asked", result.device}}}, {"error", result.status.message()}};
  Json json = ReportJson(result.report, result.outputs);
  json["run_ms"]["p99"] = result.runs.p99;
  json["run_ms"]["mean"] = result.runs.mean;
  json["run_ms"]["deviation"] = result.runs.deviation;
  json["run_ms"]["inferences_per_second"] = PerSecond(result.runs);
  if (result.report.start.mode == "hot") {
    json["start"]["settled_ms"] = result.settled_ms;
    json["start"]["cpu_runs"] = {{"runs", result.cpu_runs_count},
                                 {"median", result.cpu_runs.median},
                                 {"p99", result.cpu_runs.p99},
                                 {"max", result.cpu_runs.max}};
  }
  if (result.profile.empty()) return json;
  json["profile"] = Json::array();
  for (size_t k = 0; k < result.profile.size(); ++k) {
    const ProfileEntry& entry = result.profile[k];
    json["profile"].push_back({{"node", entry.node},
                               {"kernel", entry.kernel},
                               {"ms", entry.milliseconds},
                               {"op", result.costs[k].op},
                               {"output", result.costs[k].output},
                               {"operations", result.costs[k].operations},
                               {"gflops", result.costs[k].giga_per_second}});
  }
  json["profile_by_op"] = Json::array();
  for (const KindCost& kind : SumsByKind(result.profile, result.costs)) {
    json["profile_by_op"].push_back({{"op", kind.op}, {"steps", kind.entries}, {"ms", kind.milliseconds}});
  }
  return json;
}

}  // namespace hearth
