// hearth bench MODEL: the cost of a start and of a run.
#include <fmt/format.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/base/text.h"
#include "hal/device/stopwatch.h"
#include "hearth/device.h"
#include "runtime/devices/device_choice.h"
#include "runtime/model/model_data.h"
#include "tools/hearth/bench_text.h"
#include "tools/hearth/files.h"
#include "tools/hearth/model_inputs.h"
#include "tools/hearth/pictures/graph_picture.h"
#include "tools/hearth/placement_report.h"
#include "tools/hearth/session_flags.h"
#include "tools/hearth/verb.h"

namespace hearth {
namespace {

constexpr int kProfiledRuns = 5;
constexpr double kProgressEveryMs = 100;

// "opencl,cpu"; "all" is every usable device.
std::vector<std::string> DevicesIn(const std::string& list) {
  std::vector<std::string> names;
  const std::string ended = list + ',';
  for (const std::string_view name : PartsOf(ended, ',')) {
    if (name != "all") {
      names.emplace_back(name);
      continue;
    }
    for (const DeviceDescription& device : ListDevices()) {
      if (device.usable) names.push_back(device.id);
    }
  }
  return names;
}

enum class Line : int { kMain = 1, kBeside = 2, kSteps = 3 };

class TraceEvents {
 public:
  // Returns the end of the event in milliseconds.
  double Add(Line line, const std::string& category, const std::string& name, double begin_ms, double duration_ms,
             Json details = Json::object()) {
    events_.push_back({{"name", name},
                       {"cat", category},
                       {"ph", "X"},
                       {"ts", begin_ms * 1000},
                       {"dur", duration_ms * 1000},
                       {"pid", 1},
                       {"tid", static_cast<int>(line)},
                       {"args", std::move(details)}});
    return begin_ms + duration_ms;
  }

  void NameLine(Line line, const std::string& name) {
    events_.push_back({{"name", "thread_name"},
                       {"ph", "M"},
                       {"pid", 1},
                       {"tid", static_cast<int>(line)},
                       {"args", {{"name", name}}}});
  }

  Json TakeAll() { return std::move(events_); }

 private:
  Json events_ = Json::array();
};

// A start and a run on a timeline, in Chrome's trace event format
// (https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU). The report has the duration of
// each phase, but not its beginning: phases are drawn in the order in which a session goes through them. The two that
// overlap others (opening the device, weights) have their own line. The steps of `profile` follow the first run, end to
// end.
std::string ChromeTrace(const Report& report, const std::vector<ProfileEntry>& profile) {
  TraceEvents events;
  events.NameLine(Line::kMain, "session");
  events.NameLine(Line::kBeside, "beside it");
  events.NameLine(Line::kSteps, "steps of a run");
  const auto& init = report.init_ms;

  double at = events.Add(Line::kMain, "start", "read model", 0, init.read_model);
  at = events.Add(Line::kMain, "start", "open cache", at, init.open_cache);
  at = std::max(at, events.Add(Line::kBeside, "start", "open device", 0, init.open_device));
  at = events.Add(Line::kMain, "start", "rewrite", at, init.rewrite);
  at = events.Add(Line::kMain, "start", "lower", at, init.lower);
  events.Add(Line::kBeside, "start", "weights", at, init.weights);
  events.Add(Line::kMain, "start", "programs", at, init.programs);

  at = events.Add(Line::kMain, "run", "first run", init.total, report.first_run_ms);
  at = events.Add(Line::kMain, "cache", "save to cache", at, report.save_ms);
  for (const ProfileEntry& entry : profile) {
    at = events.Add(Line::kSteps, "step", entry.node.empty() ? entry.kernel : entry.node, at, entry.milliseconds,
                    {{"kernel", entry.kernel}});
  }
  const Json trace = {{"traceEvents", events.TakeAll()}, {"displayTimeUnit", "ms"}};
  return trace.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

class BenchCommand final : public Verb {
 public:
  BenchCommand()
      : Verb({"bench", "Start-up phases, steady-state times and memory, on one or several devices",
              "hearth bench mobilenet.tflite --device vulkan --runs 100 --profile"}) {}

  void AddOptions(CLI::App& app) override {
    session_flags_.AddOptions(app, "As for run; several by commas, or all: every usable one");
    input_options_.AddOptions(app);
    CLI::Option* runs = AddNumber(app, "--runs", runs_, "N", 1, 1000000, "Timed runs");
    app.add_option("--seconds", seconds_, "Run for this many seconds instead, at least once")
        ->type_name("S")
        ->check(CLI::Range(0.001, 1e6))
        ->check(WhyNotFinite)
        ->excludes(runs);
    AddNumber(app, "--warmup", warmup_, "N", 0, 1000000, "Untimed runs before them");
    app.add_flag("--profile", profile_, "Times, shapes and GFLOP/s per step of the plan, and sums by operation");
    app.add_option("--trace", trace_path_,
                   "Write a Chrome trace (chrome://tracing, ui.perfetto.dev) of the start and one run")
        ->type_name("FILE");
    app.add_option("--csv", csv_path_, "Write the figures as comma-separated values, a line per device")
        ->type_name("FILE");
    app.add_option("--html", html_path_,
                   "Draw a web page: starts, layers by time, the distribution of the runs, memory; a start that "
                   "compiled is repeated")
        ->type_name("FILE");
    app.add_option(
           "--graph", graph_path_,
           "Draw the rewritten network, each operation with its time and coloured by it: .svg, .png or .pdf (by "
           "Graphviz), .dot or .gv what Graphviz reads; .txt its text")
        ->type_name("FILE")
        ->check(WhyNoGraphFile);
    output_.AddOptions(app);
  }

  Result<ExitCode> Run() override {
    HEARTH_TRY(CheckFiles());
    // Random values for inputs that are not given: values hardly change the time.
    if (!input_options_.random_seed) input_options_.random_seed = 0;
    HEARTH_ASSIGN(SessionOptions options, session_flags_.Options(input_options_));
    if (options.start.empty()) options.start = "ready";  // the device is measured, also under auto
    const std::vector<std::string> devices = DevicesIn(options.device);
    if (std::any_of(devices.begin(), devices.end(), [](const std::string& name) { return Trimmed(name).empty(); })) {
      PrintError(fmt::format("--device '{}': a device's name is empty", options.device));
      return ExitCode::kUsage;
    }
    if (devices.size() > 1 && !(trace_path_.empty() && graph_path_.empty())) {
      return Error(StatusCode::kInvalidArgument, "--{} is of one device; {} are named",
                   trace_path_.empty() ? "graph" : "trace", devices.size());
    }
    CatchInterrupts();
    std::vector<BenchResult> results;
    for (const std::string& device : devices) {
      if (IsInterrupted()) break;
      options.device = device;
      results.push_back(Measure(options));
      if (devices.size() == 1 && !results[0].status.ok()) return results[0].status;
      if (results.back().status.ok()) output_.PrintText(BenchText(results.back(), profile_ ? kProfiledRuns : 0));
      if (devices.size() > 1) output_.PrintText("\n");
    }
    if (devices.size() > 1) output_.PrintText(DevicesText(results));
    HEARTH_TRY(WriteFiles(results, devices.size() > 1));
    if (IsInterrupted()) return ExitCode::kInterrupted;
    ExitCode code = ExitCode::kFine;
    for (const BenchResult& result : results) {
      if (!result.status.ok() || session_flags_.CodeOf(result.report) != ExitCode::kFine) code = ExitCode::kFailed;
    }
    return code;
  }

 private:
  Status CheckFiles() const {
    HEARTH_TRY(output_.CheckJson());
    for (const std::string* path : {&trace_path_, &csv_path_, &html_path_, &graph_path_}) {
      if (!path->empty()) HEARTH_TRY(CheckWritable(*path));
    }
    return Status::Ok();
  }

  BenchResult Measure(const SessionOptions& options) {
    BenchResult result;
    result.device = options.device;
    result.status = Measure(options, result);
    return result;
  }

  Status Measure(const SessionOptions& options, BenchResult& result) {
    WarningPrinter warnings(output_);
    const Stopwatch since_asked;
    HEARTH_ASSIGN(Session session, Session::Open(session_flags_.path(), options));
    warnings.PrintNew(session.report());
    HEARTH_ASSIGN(const LoadedInputs inputs, LoadInputs(input_options_, session.inputs(), {}));
    HEARTH_TRY(SetInputs(session, inputs.bytes));
    HEARTH_TRY(session.Run());
    if (session.report().start.mode == "hot") HEARTH_TRY(RunUntilSettled(session, inputs, since_asked, result));
    session.SaveToCache();
    HEARTH_ASSIGN(result.times_ms, TimedRuns(session, inputs));
    if (HasProfile() && !IsInterrupted()) {
      HEARTH_ASSIGN(result.profile, MedianProfile(session));
      result.costs = CostsOf(result.profile, session.model());
      if (!graph_path_.empty()) {
        HEARTH_ASSIGN(result.network, Describe(session, options, result.profile));
      }
    }
    result.report = session.report();
    result.runs = StatisticsOf(result.times_ms);
    result.report.run_ms = {static_cast<int>(result.times_ms.size()), result.runs.median, result.runs.min,
                            result.runs.p90, result.runs.max};
    warnings.PrintNew(result.report);
    for (const TensorInfo& info : session.outputs()) {
      result.outputs.push_back({{"name", info.name}, {"dtype", info.dtype}, {"shape", info.shape}});
    }
    if (html_path_.empty() || result.report.programs.compiled == 0 || IsInterrupted()) return Status::Ok();
    HEARTH_ASSIGN(Session second, Session::Open(session_flags_.path(), options));
    HEARTH_TRY(SetInputs(second, inputs.bytes));
    HEARTH_TRY(second.Run());
    result.second_start = second.report();
    return Status::Ok();
  }

  bool HasProfile() const { return profile_ || !(trace_path_.empty() && html_path_.empty() && graph_path_.empty()); }

  // The graph's constants are the file's, which is held meanwhile.
  Result<std::string> Describe(const Session& session, const SessionOptions& options,
                               const std::vector<ProfileEntry>& profile) const {
    HEARTH_ASSIGN(const OpenedDevice opened, OpenDeviceAs(session.report().device.id, options.simulate));
    LowerOptions lowering;
    lowering.cpu_ops = options.cpu_ops;
    const ModelData& data = session.model().data();
    HEARTH_ASSIGN(const HeldBytes held, data.HoldFile());
    HEARTH_ASSIGN(const PlacementReport placed, PlaceOperators(data.graph, opened.info, lowering));
    return DescribeGraph(graph_path_, placed.rewritten, placed.placements, MillisecondsByOperator(profile));
  }

  // ^C ends the runs early.
  static Status RunUntilSettled(Session& session, const LoadedInputs& inputs, const Stopwatch& since_asked,
                                BenchResult& result) {
    std::vector<double> times;
    double begin_ms = 0;
    while (!session.report().start.is_settled && !IsInterrupted()) {
      begin_ms = since_asked.milliseconds();
      HEARTH_TRY(SetInputs(session, inputs.bytes));
      HEARTH_TRY(session.Run());
      times.push_back(since_asked.milliseconds() - begin_ms);
    }
    if (session.report().start.moved_at_run && !times.empty()) times.pop_back();  // the device's first run
    result.settled_ms = begin_ms;
    result.cpu_runs_count = static_cast<int>(times.size());
    result.cpu_runs = StatisticsOf(std::move(times));
    return Status::Ok();
  }

  // ^C ends the runs early; there is at least one time.
  Result<std::vector<double>> TimedRuns(Session& session, const LoadedInputs& inputs) const {
    std::vector<double> times;
    for (int run = 0; run < warmup_ && !IsInterrupted(); ++run) {
      HEARTH_TRY(SetInputs(session, inputs.bytes));
      HEARTH_TRY(session.Run());
    }
    const Stopwatch since_start;
    double shown_ms = 0;
    while (times.empty() || (!IsInterrupted() && !IsEnough(times.size(), since_start.milliseconds()))) {
      const Stopwatch watch;
      HEARTH_TRY(SetInputs(session, inputs.bytes));  // a whole inference: inputs copied in, outputs copied out
      HEARTH_TRY(session.Run());
      times.push_back(watch.milliseconds());
      if (since_start.milliseconds() - shown_ms < kProgressEveryMs) continue;
      shown_ms = since_start.milliseconds();
      ShowProgress(times.size(), shown_ms, session.report().device.id);
    }
    output_.ShowProgress(1, 1, "");
    return times;
  }

  bool IsEnough(size_t runs, double milliseconds) const {
    return seconds_ > 0 ? milliseconds >= 1000 * seconds_ : runs >= static_cast<size_t>(runs_);
  }

  void ShowProgress(size_t runs, double milliseconds, const std::string& device) const {
    const size_t total = seconds_ > 0 ? static_cast<size_t>(1000 * seconds_) : static_cast<size_t>(runs_);
    const size_t done = seconds_ > 0 ? static_cast<size_t>(milliseconds) : runs;
    if (done < total) output_.ShowProgress(done, total, fmt::format("{} {}", seconds_ > 0 ? "ms" : "runs", device));
  }

  static Result<std::vector<ProfileEntry>> MedianProfile(Session& session) {
    std::vector<ProfileEntry> profile;
    std::vector<std::vector<double>> times;
    for (int run = 0; run < kProfiledRuns; ++run) {
      HEARTH_ASSIGN(profile, session.RunProfiled());
      times.resize(profile.size());
      for (size_t k = 0; k < profile.size(); ++k) times[k].push_back(profile[k].milliseconds);
    }
    for (size_t k = 0; k < profile.size(); ++k) profile[k].milliseconds = StatisticsOf(std::move(times[k])).median;
    return profile;
  }

  Status WriteFiles(std::vector<BenchResult>& results, bool are_several) const {
    if (!trace_path_.empty() && !results.empty()) {
      HEARTH_TRY(WriteFile(trace_path_, ChromeTrace(results[0].report, results[0].profile)));
      output_.PrintText(fmt::format("the trace is in {}\n", trace_path_));
    }
    if (!csv_path_.empty()) {
      HEARTH_TRY(WriteFile(csv_path_, DevicesCsv(results)));
      output_.PrintText(fmt::format("the figures are in {}\n", csv_path_));
    }
    if (!html_path_.empty()) {
      HEARTH_TRY(WriteFile(html_path_, BenchPage(session_flags_.path(), results)));
      output_.PrintText(fmt::format("the page is {}\n", html_path_));
    }
    if (!profile_) {
      for (BenchResult& result : results) result.profile.clear();
    }
    if (are_several) {
      Json devices = Json::array();
      for (const BenchResult& result : results) devices.push_back(BenchJson(result));
      return output_.WriteJson({{"devices", std::move(devices)}});
    }
    HEARTH_TRY(output_.WriteJson(results.empty() ? Json::object() : BenchJson(results[0])));
    return results.empty() ? Status::Ok() : WriteNetwork(results[0].network);
  }

  // Last, since Graphviz may be missing, fail or take long; ^C then ends it.
  Status WriteNetwork(const std::string& network) const {
    if (network.empty()) return Status::Ok();
    const Status written = WriteDescribed(graph_path_, network);
    if (written.ok()) output_.PrintText(fmt::format("the network is in {}\n", graph_path_));
    return IsInterrupted() ? Status::Ok() : written;
  }

  SessionFlags session_flags_;
  InputOptions input_options_;
  OutputOptions output_;
  int runs_ = 50, warmup_ = 5;
  double seconds_ = 0;
  bool profile_ = false;
  std::string trace_path_, csv_path_, html_path_, graph_path_;
};

}  // namespace

std::unique_ptr<Verb> MakeBenchCommand() {
  return std::make_unique<BenchCommand>();
}

}  // namespace hearth
