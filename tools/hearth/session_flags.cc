#include "tools/hearth/session_flags.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>

#include "cache/files/folder.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "frontends/api/model_formats.h"
#include "frontends/api/option_table.h"
#include "runtime/devices/backends.h"
#include "runtime/model/model_file.h"
#include "tools/hearth/files.h"
#include "tools/hearth/printing.h"
#include "tools/hearth/verb.h"

namespace hearth {
namespace {

constexpr int32_t kMaxDimension = 1 << 30;

// "1x224x224x3"
Result<std::vector<int32_t>> ParseDimensions(const std::string& text) {
  std::vector<int32_t> dimensions;
  const char *at = text.data(), *const end = text.data() + text.size();
  while (true) {
    int32_t dimension = 0;
    const auto [next, error] = std::from_chars(at, end, dimension);
    const bool is_too_large = error == std::errc::result_out_of_range || dimension > kMaxDimension;
    if ((error != std::errc() && !is_too_large) || (next != end && *next != 'x') || dimension < 0) {
      return Error(StatusCode::kInvalidArgument, "'{}' is not a shape such as 1x224x224x3", text);
    }
    if (is_too_large) {
      return Error(StatusCode::kInvalidArgument, "'{}' has the dimension {}; at most {} is possible", text,
                   std::string_view(at, next), kMaxDimension);
    }
    dimensions.push_back(dimension);
    if (next == end) return dimensions;
    at = next + 1;
  }
}

// The value may be a path with a '=' of its own.
Result<NamedText> SplitConstant(std::string_view text) {
  return SplitNamed(text, text.find('='), "NAME=VALUE is meant, with the input's name");
}
bool IsArrayFile(const std::string& value) {
  return EndingOf(value) == ".npy";
}

// The inputs as declared in the file; their types are open.
Result<std::vector<TensorInfo>> DeclaredInputs(const std::string& path, const std::string& signature) {
  HEARTH_ASSIGN(const ModelFile file, ModelFile::Open(path));
  const Result<ModelInterface> interface =
      FormatOf(file.bytes()).read_interface(file.bytes(), {.signature = signature});
  if (!interface.ok()) return interface.status().Within(path);
  std::vector<TensorInfo> inputs;
  for (const TensorDeclaration& declared : interface->inputs) {
    TensorInfo info;
    info.name = declared.name;
    info.alias = declared.alias;
    info.declared_shape = declared.shape;
    inputs.push_back(std::move(info));
  }
  return inputs;
}

// "16000" or "1,2,3": numbers, which take the input's type.
Result<FixedInput> ParseNumbers(const std::string& text) {
  FixedInput fixed{"float64", {}, {}};
  std::vector<double> numbers;
  const std::string ended = text + ',';
  for (const std::string_view part : PartsOf(ended, ',')) {
    double number = 0;
    if (!NumberFrom(Trimmed(part), number)) {
      return Error(StatusCode::kInvalidArgument, "'{}' is neither numbers (16000 or 1,2,3) nor a .npy file", text);
    }
    numbers.push_back(number);
  }
  if (numbers.size() > 1) fixed.shape = {static_cast<int32_t>(numbers.size())};
  const auto bytes = std::as_bytes(std::span(numbers));
  fixed.bytes.assign(bytes.begin(), bytes.end());
  return fixed;
}

using NamedShape = std::pair<std::string, std::vector<int32_t>>;
Result<NamedShape> ParseShape(std::string_view text) {
  HEARTH_ASSIGN(NamedText named, SplitNamed(text, text.rfind('='), "NAME=1x224x224x3 is meant, with the input's name"));
  HEARTH_ASSIGN(std::vector<int32_t> shape, ParseDimensions(named.value));
  return NamedShape(std::move(named.name), std::move(shape));
}

// What is wrong with the text alone: whether a file is there is not asked.
Status CheckConstant(std::string_view text) {
  HEARTH_ASSIGN(const NamedText named, SplitConstant(text));
  return IsArrayFile(named.value) ? Status::Ok() : ParseNumbers(named.value).status();
}

void ShowTuningProgress(const TuningProgress& progress) {
  DrawProgress(progress.done, progress.total, progress.layer.empty() ? "layers" : "layers, last " + progress.layer);
}

constexpr const char* kDeviceVariable = "HEARTH_DEVICE";

// An empty name is a script's mistake (--device "$UNSET"), reported before any driver starts.
std::string WhyNoDeviceName(const std::string& name) {
  return Trimmed(name).empty() ? "the device's name is empty" : "";
}

// Adds the flag of an option for a variable of its kind.
CLI::Option* Add(CLI::App& app, const OptionFlag& flag, const TextOption&, std::string& text) {
  return app.add_option(flag.names, text, std::string(flag.help));
}
CLI::Option* Add(CLI::App& app, const OptionFlag& flag, const SwitchOption&, bool& is_on) {
  return app.add_flag(flag.names, is_on, std::string(flag.help));
}
CLI::Option* Add(CLI::App& app, const OptionFlag& flag, const NumberOption& option, int& number) {
  return app.add_option(flag.names, number, std::string(flag.help))->check(CLI::Range(option.least, option.most));
}
CLI::Option* Add(CLI::App& app, const OptionFlag& flag, const SizeOption&, uint64_t& size_bytes) {
  const std::string names = flag.names;
  const auto set = [&size_bytes, name = names.substr(0, names.find(','))](const std::string& text) {
    const Result<uint64_t> bytes = ParseSizeBytes(text);
    if (!bytes.ok()) throw CLI::ValidationError(name, std::string(bytes.status().message()));
    size_bytes = *bytes;
  };
  return app.add_option_function<std::string>(names, set, std::string(flag.help));
}
CLI::Option* Add(CLI::App& app, const OptionFlag& flag, const ListOption& option, std::vector<std::string>& list) {
  CLI::Option* added = app.add_option(flag.names, list, std::string(flag.help))->allow_extra_args(false);
  return option.separator == ',' ? added->delimiter(',') : added;  // others are given several times
}

// What may be given once: words, or the names of "NAME=VALUE"s, which end where it says.
using NameEnd = size_t(std::string_view text);
size_t LastEquals(std::string_view text) {
  return text.rfind('=');
}
CLI::Option* GivenOnce(CLI::Option* option, NameEnd* end) {
  return option->check(Passes([option, end](std::string_view text) {
    const std::string_view name = text.substr(0, end(text));
    const auto same = std::ranges::count_if(
        option->results(), [&](const std::string_view other) { return other.substr(0, end(other)) == name; });
    return same < 2 ? Status::Ok() : Error(StatusCode::kInvalidArgument, "'{}' is given twice", name);
  }));
}

std::vector<std::string> ChoicesOf(const OptionRow& row) {
  std::vector<std::string> choices;
  for (const std::string_view choice : PartsOf(row.choices, ',')) choices.emplace_back(Trimmed(choice));
  return choices;
}

// `also`: a value that only the verb takes.
CLI::Option* Finished(CLI::Option* added, const OptionRow& row, std::string_view also = {}) {
  if (*row.flag.type != 0) added->type_name(row.flag.type);
  if (!row.choices.empty()) {
    GivenOnce(added->check(CLI::IsMember(ChoicesOf(row))), [](std::string_view word) { return word.size(); });
  }
  if (row.check != nullptr)
    added->check(Passes([&row, also](std::string_view text) { return text == also ? Status::Ok() : row.check(text); }));
  const char* shown = row.flag.default_text;
  if (shown != nullptr && *shown != 0) added->default_str(shown);
  if (shown != nullptr && *shown == 0) added->capture_default_str();
  return added;
}

// The flag of the option `name` for a variable of its own.
template <typename Kind, typename Variable>
CLI::Option* AddFlagOf(CLI::App& app, std::string_view name, Variable& variable, std::string_view also = {}) {
  const OptionRow& row = *FindOption(name);
  return Finished(Add(app, row.flag, std::get<Kind>(row.kind), variable), row, also);
}

std::vector<CLI::Option*> AddGroup(CLI::App& app, SessionOptions& options, FlagGroup group) {
  std::vector<CLI::Option*> flags;
  for (const OptionRow& row : OptionRows()) {
    if (row.flag.group != group) continue;
    flags.push_back(Finished(
        std::visit([&](const auto& kind) { return Add(app, row.flag, kind, kind.field(options)); }, row.kind), row));
  }
  return flags;
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
      ->check(WhyNoDeviceName);
}

CLI::Option* AddDevicesOption(CLI::App& app, std::vector<std::string>& devices, const std::string& description) {
  return app.add_option("--device", devices, description)
      ->type_name("D")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->envname(kDeviceVariable)
      ->check(WhyNoDeviceName);
}

CLI::Option* AddSimulateOption(CLI::App& app, std::string& profile, std::string_view also, const std::string& more) {
  CLI::Option* added = AddFlagOf<TextOption>(app, "simulate", profile, also);
  return more.empty() ? added : added->description(fmt::format("{}; {}", added->get_description(), more));
}

void AddCpuOpsOption(CLI::App& app, std::vector<std::string>& cpu_ops) {
  AddFlagOf<ListOption>(app, "cpu_ops", cpu_ops);
}

CLI::Option* AddCacheOption(CLI::App& app, std::string& folder) {
  return AddFlagOf<TextOption>(app, "cache_folder", folder);
}

std::vector<CLI::Option*> AddCacheTierOptions(CLI::App& app, SessionOptions& options) {
  return AddGroup(app, options, FlagGroup::kCacheTier);
}

void AddPlanOptions(CLI::App& app, SessionOptions& options) {
  AddGroup(app, options, FlagGroup::kPlan);
}

void AddTuneOption(CLI::App& app, SessionOptions& options) {
  AddGroup(app, options, FlagGroup::kTune);
  options.on_tuning = ShowTuningProgress;
}

void ModelFlags::AddOptions(CLI::App& app) {
  app.add_option("MODEL", path_, "A model file: .tflite or .onnx")->required()->type_name("");
  AddChoices(app);
}

void ModelFlags::AddChoices(CLI::App& app) {
  AddFlagOf<TextOption>(app, "signature", signature_);
  GivenOnce(AddFlagOf<ListOption>(app, "dimensions", dimensions_), LastEquals);
  AddFlagOf<ListOption>(app, "ops", ops_);
  CLI::Option* shape =
      app.add_option("--shape", shapes_,
                     "The shape of an input that the file leaves open, or to replace the file's: x=1x224x224x3")
          ->type_name("NAME=SHAPE")
          ->check(Passes([](std::string_view text) { return ParseShape(text).status(); }))
          ->allow_extra_args(false);
  GivenOnce(shape, LastEquals);
  CLI::Option* constant =
      app.add_option("--constant", constants_,
                     "What an input holds in every run, as numbers or an array's file: a sample rate, paddings, counts "
                     "and other inputs that decide shapes (inspect marks them)")
          ->type_name("NAME=VALUE")
          ->check(Passes(CheckConstant))
          ->allow_extra_args(false);
  GivenOnce(constant, [](std::string_view text) { return text.find('='); });
}

Result<ModelOptions> ModelFlags::Options(InputOptions* inputs) const {
  ModelOptions options;
  options.signature = signature_;
  options.dimensions = dimensions_;
  options.op_libraries = ops_;
  for (const std::string& text : shapes_) {
    HEARTH_ASSIGN(NamedShape shape, ParseShape(text));
    options.input_shapes.insert(std::move(shape));
  }
  for (const std::string& text : constants_) {
    HEARTH_ASSIGN(const NamedText constant, SplitConstant(text));
    HEARTH_ASSIGN(options.constants[constant.name],
                  IsArrayFile(constant.value) ? ReadFixedInput(constant.value) : ParseNumbers(constant.value));
  }
  if (inputs == nullptr || inputs->arguments.empty()) return options;
  HEARTH_ASSIGN(std::vector<TensorInfo> declared, DeclaredInputs(path_, signature_));
  std::erase_if(declared, [&](const TensorInfo& input) {
    return options.constants.contains(input.name) || options.constants.contains(input.alias);
  });
  if (shapes_.empty()) {
    HEARTH_ASSIGN(options.input_shapes, ShapesOfFiles(*inputs, declared));
  }
  HEARTH_TRY(FixShapeInputs(path_, declared, *inputs, options));
  return options;
}

void SessionFlags::AddOptions(CLI::App& app, const std::string& device_help) {
  model_flags_.AddOptions(app);
  AddDeviceOption(app, options_.device, device_help);
  AddSimulateOption(app, options_.simulate);
  CLI::Option* cache = AddCacheOption(app, options_.cache_folder);
  app.add_flag("--expect-warm", expect_warm_, "Exit code 1 when anything had to be compiled");
  CLI::Option* none = app.add_flag("--no-cache", no_cache_, "Neither read nor write the cache")->excludes(cache);
  CLI::Option* read_only = AddFlagOf<SwitchOption>(app, "cache_read_only", options_.cache_read_only);
  none->excludes(read_only);
  for (CLI::Option* tier : AddCacheTierOptions(app, options_)) none->excludes(tier);
  AddPlanOptions(app, options_);
  AddTuneOption(app, options_);
  AddGroup(app, options_, FlagGroup::kStart);
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

Result<SessionOptions> SessionFlags::Options(InputOptions& inputs) const {
  SessionOptions options = options_;
  options.use_cache = !no_cache_;
  HEARTH_ASSIGN(options.model, model_flags_.Options(&inputs));
  return options;
}

Result<Session> SessionFlags::Open(InputOptions& inputs) const {
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
  if (report.device.id == "cpu")
    return text + fmt::format("{} operations\n", report.ops.total);  // nothing is left over
  return text + fmt::format("{} operations: {} on the device, {} on the CPU\n", report.ops.total, report.ops.on_device,
                            report.ops.on_cpu);
}

}  // namespace hearth
