#include "tools/hearth/session_flags.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>

#include "cache/files/folder.h"
#include "core/base/error.h"
#include "core/base/size_text.h"
#include "frontends/engine/backends.h"
#include "tools/hearth/option_checks.h"
#include "tools/hearth/printing.h"

namespace hearth {
namespace {

void ShowTuningProgress(const TuningProgress& progress) {
  DrawProgress(progress.done, progress.total, progress.layer.empty() ? "layers" : "layers, last " + progress.layer);
}

constexpr const char* kDeviceVariable = "HEARTH_DEVICE";

// An empty name is a script's mistake (--device "$UNSET"), reported before any driver starts.
std::string WhyNoDeviceName(const std::string& name) {
  return name.find_first_not_of(" \t\r\n") == std::string::npos ? "the device's name is empty" : "";
}

// --start, --memory-limit.
void AddStartOptions(CLI::App& app, SessionOptions& options) {
  app.add_option(
         "--start", options.start,
         "hot: the CPU answers until the device, which is prepared in the background, is ready and faster; ready: the "
         "device answers from the first run on (default: ready for a named device; for auto hot where the cache holds "
         "nothing "
         "of the model)")
      ->check(CLI::IsMember({"ready", "hot"}))
      ->type_name("HOW");
  const auto set_limit = [&options](const std::string& text) {
    const Result<uint64_t> bytes = ParseSizeBytes(text);
    if (!bytes.ok()) throw CLI::ValidationError("--memory-limit", std::string(bytes.status().message()));
    options.memory_limit_bytes = *bytes;
  };
  app.add_option_function<std::string>(
         "--memory-limit", set_limit,
         "A limit for weights, intermediate values, inputs and outputs: bytes, or a number with K, M, G. Kept, or "
         "refused with the bytes needed; 0: no limit")
      ->type_name("SIZE");
  app.add_option("--wait-limit", options.wait_limit_ms,
                 "Milliseconds after which a device that does not finish counts as lost, and a loop that does not end "
                 "is stopped; 0: never (default: 60000 on hardware, else never)")
      ->type_name("MS")
      ->check(CLI::Range(0, 86400000));
  app.add_flag("--next-device", options.next_device,
               "If the named device is not usable or fails, take the next one, as auto does");
}

}  // namespace

void AddDeviceOption(CLI::App& app, std::string& device, const std::string& help) {
  const std::string one_name = fmt::format(
      "auto, cpu, gpu (the first hardware GPU), {}, one of several (opencl:1), a UUID or part of one device's name",
      fmt::join(BackendNames(), ", "));
  app.add_option("--device", device, help.empty() ? one_name : help)
      ->type_name("D")
      ->capture_default_str()
      ->envname(kDeviceVariable)
      ->check(CLI::Validator(WhyNoDeviceName, ""));
}

CLI::Option* AddDevicesOption(CLI::App& app, std::vector<std::string>& devices, const std::string& description) {
  return app.add_option("--device", devices, description)
      ->type_name("D")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->envname(kDeviceVariable)
      ->check(CLI::Validator(WhyNoDeviceName, ""));
}

CLI::Option* AddSimulateOption(CLI::App& app, std::string& profile, const std::string& more) {
  return app
      .add_option("--simulate", profile,
                  "Open a software driver that answers as another device (`hearth devices --profiles`)" + more +
                      ": its limits, rules and paths; times are meaningless")
      ->type_name("PROFILE");
}

void AddCpuOpsOption(CLI::App& app, std::vector<std::string>& cpu_ops) {
  app.add_option("--cpu-ops", cpu_ops, "Operations to keep on the CPU, by name or file index: softmax,op:7")
      ->type_name("LIST")
      ->delimiter(',')
      ->allow_extra_args(false);
}

CLI::Option* AddCacheOption(CLI::App& app, std::string& folder) {
  return app
      .add_option("--cache,--cache-folder,--cache-dir", folder,
                  "Cache folder (default $HEARTH_CACHE_DIR, $XDG_CACHE_HOME/hearth or ~/.cache/hearth)")
      ->type_name("DIR")
      ->check(NotEmpty("the folder's name"));
}

std::vector<CLI::Option*> AddCacheTierOptions(CLI::App& app, SessionOptions& options) {
  const auto set_max_size = [&options](const std::string& text) {
    const Result<uint64_t> bytes = ParseSizeBytes(text);
    if (!bytes.ok()) throw CLI::ValidationError("--cache-max-size", std::string(bytes.status().message()));
    options.cache_max_bytes = *bytes;
  };
  return {
      app.add_option("--cache-layer", options.cache_layers,
                     "A bundle or a cache's folder, looked up first and never written, before those of "
                     "$HEARTH_CACHE_LAYERS; may be given several times")
          ->type_name("PATH")
          ->allow_extra_args(false),
      app.add_option("--cache-layer-keys", options.cache_layer_keys,
                     "Public keys whose signatures make a layer usable (default $HEARTH_CACHE_LAYER_KEYS)")
          ->type_name("FILE"),
      app.add_flag("--trust-cache-layers", options.trust_cache_layers, "Also use layers that no such key has signed"),
      app.add_option_function<std::string>(
             "--cache-max-size,--cache-max-bytes,--max-cache-size", set_max_size,
             "The cache's size limit: bytes, or a number with K, M, G (default $HEARTH_CACHE_MAX_SIZE or 1G)")
          ->type_name("SIZE"),
      app.add_option("--cache-wait", options.cache_wait_ms,
                     "A session's total waiting time for the cache's locks and servers, in milliseconds")
          ->type_name("MS")
          ->check(CLI::Range(0, 60000))
          ->capture_default_str(),
      app.add_option("--cache-server", options.cache_server.address,
                     "A Redis server with entries that machines share (default $HEARTH_CACHE_SERVER)")
          ->type_name("HOST:PORT|URL"),
      app.add_option("--cache-server-keys", options.cache_server.trusted_keys,
                     "Public keys whose entries are accepted (default $HEARTH_CACHE_SERVER_KEYS)")
          ->type_name("FILE"),
      app.add_option("--cache-server-sign", options.cache_server.sign_with,
                     "Secret key that signs what is stored there (default $HEARTH_CACHE_SERVER_SIGN)")
          ->type_name("FILE")};
}

void AddPlanOptions(CLI::App& app, SessionOptions& options) {
  app.add_option("--precision", options.precision,
                 "How real numbers are stored; falls back to fp32 with a warning on devices that lack it")
      ->check(CLI::IsMember({"fp32", "fp32_16", "fp16"}))
      ->type_name("P")
      ->default_str("fp32, or as --priority says");
  app.add_option("--preference", options.preference,
                 "fast_single_answer (few programs, ready soon), balanced, sustained_speed (slow starts, fast runs)")
      ->check(CLI::IsMember({"fast_single_answer", "balanced", "sustained_speed"}))
      ->type_name("WHAT")
      ->capture_default_str();
  app.add_option("--priority", options.priority,
                 "What matters, most important first: precision, latency, memory. Precision first is fp32, second "
                 "fp32_16, third fp16")
      ->check(CLI::IsMember({"precision", "latency", "memory"}))
      ->type_name("LIST")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->default_str("precision,latency,memory");
  app.add_option("--model-token", options.model_token, "Text that keeps this model's cache entries apart")
      ->type_name("TEXT");
  AddCpuOpsOption(app, options.cpu_ops);
  app.add_option(
         "--rules", options.rules,
         "What Hearth knows about drivers, forced on or off: +wide_stores,-texel_reads (`hearth devices --json` "
         "lists the rules and what applies)")
      ->type_name("+NAME,-NAME");
  app.add_option("--threads", options.threads, "CPU threads; 0: as many as affinity, cgroup quota and machine allow")
      ->type_name("N")
      ->check(CLI::Range(0, 1024))
      ->capture_default_str();
}

void AddTuneOption(CLI::App& app, SessionOptions& options) {
  app.add_option(
         "--tune", options.tune,
         "Measure kernels for this model's layers before the first run, and keep the winners in the cache: off, "
         "fast (the likeliest), full (all)")
      ->check(CLI::IsMember({"off", "fast", "full"}))
      ->type_name("HOW")
      ->capture_default_str();
  options.on_tuning = ShowTuningProgress;
}

void SessionFlags::AddOptions(CLI::App& app, const std::string& device_help) {
  model_flags_.AddOptions(app);
  AddDeviceOption(app, options_.device, device_help);
  AddSimulateOption(app, options_.simulate);
  CLI::Option* cache = AddCacheOption(app, options_.cache_folder);
  app.add_flag("--expect-warm", expect_warm_, "Exit code 1 when anything had to be compiled");
  CLI::Option* none = app.add_flag("--no-cache", no_cache_, "Neither read nor write the cache")->excludes(cache);
  CLI::Option* read_only =
      app.add_flag("--cache-read-only", options_.cache_read_only, "Use existing entries, store nothing");
  none->excludes(read_only);
  for (CLI::Option* tier : AddCacheTierOptions(app, options_)) none->excludes(tier);
  AddPlanOptions(app, options_);
  AddTuneOption(app, options_);
  AddStartOptions(app, options_);
}

ExitCode SessionFlags::WaitForDevice(Session& session) const {
  const Status device = session.WaitForDevice();
  if (device.ok() || device.code() != StatusCode::kUnavailable) return ExitCode::kFine;
  if (options_.device == "auto" || options_.next_device) return ExitCode::kFine;
  PrintError(device.message());
  return ExitCode::kDeviceUnavailable;
}

ExitCode SessionFlags::CodeOf(const Report& report) const {
  const auto& programs = report.programs;
  if (!expect_warm_ || programs.compiled + programs.spirv_compiled == 0) return ExitCode::kFine;
  if (!programs.storable) {
    PrintError(
        fmt::format("{} compiles {} programs at every start: its driver gives no binaries of them (see "
                    "`hearth diagnose` for the variables that its driver reads)",
                    report.device.id, programs.compiled));
    return ExitCode::kFailed;
  }
  // Explained for another device, the entries of this one would be missing there.
  const std::string& profile = report.device.simulates;
  PrintError(fmt::format(
      "this start should have been warm, but compiled {} programs and {} texts to SPIR-V; `hearth cache "
      "explain MODEL --device {}{}` says why",
      programs.compiled, programs.spirv_compiled, report.device.id, profile.empty() ? "" : " --simulate " + profile));
  return ExitCode::kFailed;
}

Result<SessionOptions> SessionFlags::Options(const InputOptions& inputs) const {
  SessionOptions options = options_;
  options.use_cache = !no_cache_;
  HEARTH_ASSIGN(options.model, model_flags_.Options(&inputs));
  return options;
}

Result<Session> SessionFlags::Open(const InputOptions& inputs) const {
  HEARTH_ASSIGN(const SessionOptions options, Options(inputs));
  return Session::Open(path(), options);
}

Status SetInputs(Session& session, std::span<const std::vector<std::byte>> inputs) {
  for (size_t k = 0; k < inputs.size(); ++k) HEARTH_TRY(session.SetInput(k, inputs[k]));
  return Status::Ok();
}

void WarningPrinter::PrintNew(const Report& report) {
  for (; printed_ < report.warnings.size(); ++printed_) output_.PrintWarning(report.warnings[printed_]);
}

Json ReportJson(const Report& report, Json outputs) {
  Json json = Json::parse(report.ToJson());
  Json warnings = std::move(json["warnings"]);
  json.erase("warnings");
  json["outputs"] = std::move(outputs);
  json["warnings"] = std::move(warnings);
  return json;
}

std::string DeviceText(const Report& report) {
  std::string text = fmt::format("{} on {}, {}, {} ({})\n", report.model_path, report.device.id, report.device.name,
                                 report.precision, report.device.reason);
  text += fmt::format("{} operations: {} on the device, {} on the CPU\n", report.ops.total, report.ops.on_device,
                      report.ops.on_cpu);
  return text;
}

}  // namespace hearth
