// hearth bench MODEL: what a start costs, and what a run costs.
#include <fmt/format.h>

#include <algorithm>

#include "core/base/error.h"
#include "hal/stopwatch.h"
#include "tools/hearth/chrome_trace.h"
#include "tools/hearth/model_inputs.h"
#include "tools/hearth/session_flags.h"
#include "tools/hearth/statistics.h"
#include "tools/hearth/verb.h"

namespace hearth {
namespace {

constexpr int kProfiledRuns = 5;

std::string StartText(const Report& report) {
  TextTable table({{""}, {"", TextTable::Align::kRight}});
  const auto add = [&](const std::string& phase, double milliseconds) {
    table.AddRow({phase, MillisecondsText(milliseconds)});
  };
  add("open device", report.init_ms.open_device);
  add("open cache", report.init_ms.open_cache);
  add("read model", report.init_ms.read_model);
  add("rewrite", report.init_ms.rewrite);
  add("lower", report.init_ms.lower);
  add("programs", report.init_ms.programs);
  add("weights", report.init_ms.weights);
  add("other", report.init_ms.other);
  add("start in all", report.init_ms.total);
  add("first run", report.first_run_ms);
  add("ready", report.ready_ms);
  add("save to cache", report.save_ms);
  return "\nstart-up, ms (phases may overlap)\n" + table.ToString();
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

std::string ProfileText(const std::vector<ProfileEntry>& profile) {
  double total = 0;
  for (const ProfileEntry& entry : profile) total += entry.milliseconds;
  TextTable table({{"#", TextTable::Align::kRight},
                   {"ms", TextTable::Align::kRight},
                   {"%", TextTable::Align::kRight},
                   {"kernel"},
                   {"node"}});
  for (size_t k = 0; k < profile.size(); ++k) {
    const double share = total > 0 ? 100 * profile[k].milliseconds / total : 0;
    table.AddRow({std::to_string(k), MillisecondsText(profile[k].milliseconds), fmt::format("{:.1f}", share),
                  profile[k].kernel, profile[k].node});
  }
  return fmt::format("\nprofile, median of {} runs with every step timed: {} ms\n", kProfiledRuns,
                     MillisecondsText(total)) +
         table.ToString();
}

class BenchCommand final : public Verb {
 public:
  BenchCommand()
      : Verb({"bench", "Start-up phases, steady-state times, memory",
              "hearth bench mobilenet.tflite --device vulkan --runs 100 --profile"}) {}

  void AddOptions(CLI::App& app) override {
    session_flags_.AddOptions(app);
    input_options_.AddOptions(app);
    app.add_option("--runs", runs_, "Timed runs")->type_name("N")->check(CLI::Range(1, 1000000))->capture_default_str();
    app.add_option("--warmup", warmup_, "Runs before them")
        ->type_name("N")
        ->check(CLI::Range(0, 1000000))
        ->capture_default_str();
    app.add_flag("--profile", profile_, "Times per step of the plan");
    app.add_option("--trace", trace_path_,
                   "Write a Chrome trace (chrome://tracing, ui.perfetto.dev) of the start and one run")
        ->type_name("FILE");
    output_.AddOptions(app);
  }

  Result<ExitCode> Run() override {
    // The values hardly matter for the time; what is not given is random.
    if (!input_options_.random_seed) input_options_.random_seed = 0;
    WarningPrinter warnings(output_);
    HEARTH_ASSIGN(Session session, session_flags_.Open(input_options_));
    warnings.PrintNew(session.report());
    HEARTH_ASSIGN(const auto inputs, LoadInputs(input_options_, session.inputs()));
    HEARTH_TRY(SetInputs(session, inputs));
    HEARTH_TRY(session.Run());
    session.SaveToCache();
    HEARTH_ASSIGN(std::vector<double> times, TimedRuns(session, inputs));
    std::vector<ProfileEntry> profile;
    if (profile_ || !trace_path_.empty()) {
      HEARTH_ASSIGN(profile, MedianProfile(session));
    }
    Report report = session.report();
    const RunStatistics statistics = StatisticsOf(std::move(times));
    report.run_ms = {runs_, statistics.median, statistics.min, statistics.p90, statistics.max};
    warnings.PrintNew(report);
    PrintReport(report, profile);
    if (!trace_path_.empty()) {
      HEARTH_TRY(WriteFile(trace_path_, ChromeTrace(report, profile)));
    }
    HEARTH_TRY(output_.WriteJson(JsonOf(session, report, profile)));
    return ExitCode::kFine;
  }

 private:
  Result<std::vector<double>> TimedRuns(Session& session, const std::vector<std::vector<std::byte>>& inputs) const {
    std::vector<double> times;
    for (int run = -warmup_; run < runs_; ++run) {
      const Stopwatch watch;
      HEARTH_TRY(SetInputs(session, inputs));  // input copied in, output copied out: a whole inference
      HEARTH_TRY(session.Run());
      if (run >= 0) times.push_back(watch.milliseconds());
    }
    return times;
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

  void PrintReport(const Report& report, const std::vector<ProfileEntry>& profile) const {
    output_.PrintText(DeviceText(report));
    output_.PrintText(StartText(report));
    output_.PrintText(fmt::format("\n{} runs, ms: median {:.3f}, min {:.3f}, p90 {:.3f}, max {:.3f}; CPU threads: {}\n",
                                  report.run_ms.runs, report.run_ms.median, report.run_ms.min, report.run_ms.p90,
                                  report.run_ms.max, report.threads));
    output_.PrintText(ResourcesText(report));
    if (profile_) output_.PrintText(ProfileText(profile));
  }

  Json JsonOf(const Session& session, const Report& report, const std::vector<ProfileEntry>& profile) const {
    Json outputs = Json::array();
    for (const TensorInfo& info : session.outputs()) {
      outputs.push_back({{"name", info.name}, {"dtype", info.dtype}, {"shape", info.shape}});
    }
    Json json = ReportJson(report, std::move(outputs));
    if (!profile_) return json;
    Json steps = Json::array();
    for (const ProfileEntry& entry : profile) {
      steps.push_back({{"node", entry.node}, {"kernel", entry.kernel}, {"ms", entry.milliseconds}});
    }
    json["profile"] = std::move(steps);
    return json;
  }

  SessionFlags session_flags_;
  InputOptions input_options_;
  OutputOptions output_;
  int runs_ = 50, warmup_ = 5;
  bool profile_ = false;
  std::string trace_path_;
};

}  // namespace

std::unique_ptr<Verb> MakeBenchCommand() {
  return std::make_unique<BenchCommand>();
}

}  // namespace hearth
