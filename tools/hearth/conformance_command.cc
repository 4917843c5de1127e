// `hearth conformance`: compares this machine's drivers with the reference.
#include <fmt/format.h>

#include "conformance/journal.h"
#include "conformance/report.h"
#include "conformance/selection.h"
#include "conformance/suite.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "runtime/devices/device_choice.h"
#include "tools/hearth/files.h"
#include "tools/hearth/printing.h"
#include "tools/hearth/session_flags.h"
#include "tools/hearth/verb.h"

namespace hearth {
namespace {

using conformance::ConformanceCase;
using conformance::DeviceResults;
using conformance::Outcome;

Json ToJson(const DeviceResults& results) {
  Json failures = Json::array(), left_out = Json::array();
  for (const conformance::CaseResult& result : results.cases) {
    const Json item = {{"case", result.id()}, {"path", result.path}, {"reason", result.detail}};
    if (result.outcome == Outcome::kFailed) failures.push_back(item);
    if (result.outcome == Outcome::kUnsupported) left_out.push_back(item);
  }
  return {{"device", results.device},
          {"name", results.info.name},
          {"driver", results.info.driver_version},
          {"cases", results.cases.size()},
          {"cases_total", results.cases_total},
          {"interrupted", results.was_stopped},
          {"passed", results.Count(Outcome::kPassed)},
          {"failed", results.Count(Outcome::kFailed)},
          {"unsupported", results.Count(Outcome::kUnsupported)},
          {"expected_failures", results.Count(Outcome::kExpectedFailure)},
          {"milliseconds", results.milliseconds},
          {"failures", std::move(failures)},
          {"unsupported_cases", std::move(left_out)}};
}

class ConformanceCommand final : public Verb {
 public:
  ConformanceCommand()
      : Verb({"conformance", "Compare every operation on a device with the float64 reference",
              "hearth conformance --device vulkan --html matrix.html"}) {}

  void AddOptions(CLI::App& app) override {
    AddDevicesOption(app, devices_, "As for run, several by commas; all usable ones by default");
    app.add_option("--filter", selection_.filters,
                   "Only an operation (conv_2d) or cases whose op/name fits a glob ('conv_2d/*same*'); may be repeated")
        ->allow_extra_args(false);
    app.add_option("--exclude", selection_.excluded, "Not these, named as for --filter; may be repeated")
        ->allow_extra_args(false);
    app.add_option("--case-list", case_list_, "A file with a filter in each line; '#' begins a remark")
        ->type_name("FILE");
    app.add_option("--shard", shard_, "K/N: only the K-th of N parts, for N machines")
        ->type_name("K/N")
        ->check(Passes([](std::string_view text) {
          conformance::Selection ignored;
          return conformance::ParseShard(std::string(text), ignored);
        }));
    app.add_option(
           "--expect", expect_path_,
           "A file of failures that are known, a line each: 'conv_2d/1x1 [texel fp16]: reason'; one that passes "
           "is a failure")
        ->type_name("FILE");
    AddNumber(app, "--sample", selection_.sample, "N", 1, 100000, "Only about one in N cases, chosen by --seed");
    app.add_option("--seed", selection_.seed, "Which cases --sample takes")
        ->check(WhyNoWholeNumber)
        ->capture_default_str();
    app.add_flag("--list", list_, "Print the cases and stop");
    app.add_option("--junit", junit_path_, "Write JUnit XML to a file");
    app.add_option(
           "--dump", failures_folder_,
           "Write each failed case into a folder of DIR: kernel texts, launches, inputs, both outputs, a command "
           "that runs it again")
        ->type_name("DIR");
    app.add_option(
           "--resume", journal_path_,
           "Note in FILE what runs, and go on there: what it has is not run again, unless it failed. A case that "
           "ended the process is a failure")
        ->type_name("FILE");
    app.add_option("--html", html_path_, "Write a page of operations against devices to a file");
    AddSimulateOption(app, simulate_, "all", "or all: each profile that has the device's API, one after the other");
    output_.AddOptions(app);
  }

  Result<ExitCode> Run() override {
    HEARTH_TRY(ReadFiles());
    HEARTH_TRY(selection_.Check());
    const std::vector<ConformanceCase> cases = selection_.Cases();
    const std::vector<conformance::DeviceCase> device_cases = selection_.ChecksOfDevices();
    if (cases.empty() && device_cases.empty()) {
      return Error(StatusCode::kNotFound, "no case is left of --filter, --exclude, --sample and --shard");
    }
    HEARTH_ASSIGN(const std::vector<conformance::Expectation> expected, conformance::ParseExpectations(expect_lines_));
    if (list_) {
      for (const ConformanceCase& test : cases) output_.PrintText(test.id() + "\n");
      for (const conformance::DeviceCase& test : device_cases) output_.PrintText(conformance::IdOf(test) + "\n");
      return ExitCode::kFine;
    }
    HEARTH_TRY(CheckFiles());
    std::optional<conformance::Journal> journal;
    if (!journal_path_.empty()) {
      HEARTH_ASSIGN(journal, conformance::Journal::Open(journal_path_));
    }
    CatchInterrupts();
    std::vector<DeviceResults> all;
    HEARTH_ASSIGN(const std::vector<DeviceToRun> devices, DevicesToRun());
    for (const auto& [wanted, profile] : devices) {
      if (IsInterrupted()) break;
      HEARTH_ASSIGN(const OpenedDevice opened, OpenDeviceAs(wanted, profile));
      for (const std::string& warning : opened.warnings) output_.PrintWarning(warning);
      const auto observer = [&](size_t done, size_t total, const std::string& next) {
        output_.ShowProgress(done, total, fmt::format("{}: {}", opened.id, next));
      };
      const conformance::RunOptions options{observer, IsInterrupted, expected, failures_folder_,
                                            journal ? &*journal : nullptr};
      all.push_back(conformance::RunCases(opened.id, *opened.device, opened.info, cases, options));
      if (!opened.info.is_host()) conformance::RunDeviceCases(*opened.device, device_cases, all.back(), options);
      output_.PrintText(conformance::FailuresText(all.back()));
    }
    HEARTH_TRY(WriteReports(all));
    if (journal) HEARTH_TRY(journal->status());
    if (IsInterrupted()) return ExitCode::kInterrupted;
    bool failed = false;
    for (const DeviceResults& results : all) {
      const std::string nothing = conformance::NothingPassedText(results);
      if (!nothing.empty()) PrintError(nothing);
      failed |= results.Count(Outcome::kFailed) > 0 || !nothing.empty();
    }
    return failed ? ExitCode::kFailed : ExitCode::kFine;
  }

 private:
  Status ReadFiles() {
    if (!shard_.empty()) HEARTH_TRY(conformance::ParseShard(shard_, selection_));
    if (!case_list_.empty()) {
      HEARTH_ASSIGN(const std::vector<std::string> listed, LinesOf(case_list_));
      selection_.filters.insert(selection_.filters.end(), listed.begin(), listed.end());
      if (listed.empty()) return Error(StatusCode::kMalformedInput, "{} names no case", case_list_);
    }
    if (!expect_path_.empty()) {
      HEARTH_ASSIGN(expect_lines_, LinesOf(expect_path_));
    }
    return Status::Ok();
  }

  static Result<std::vector<std::string>> LinesOf(const std::string& path) {
    constexpr uint64_t kMostBytes = uint64_t{16} << 20;
    HEARTH_ASSIGN(const std::vector<std::byte> bytes, ReadFile(path, kMostBytes));
    return conformance::ListedLines(TextFrom(bytes));
  }

  struct DeviceToRun {
    std::string name, profile;
  };

  Result<std::vector<DeviceToRun>> DevicesToRun() const {
    std::vector<DeviceToRun> to_run;
    for (const std::string& name : NamesOfDevices()) {
      if (simulate_ != "all") {
        to_run.push_back({name, simulate_});
        continue;
      }
      HEARTH_ASSIGN(const std::vector<std::string> profiles, ProfilesFor(name));
      for (const std::string& profile : profiles) to_run.push_back({name, profile});
    }
    if (to_run.empty()) {
      return Error(StatusCode::kInvalidArgument,
                   "no profile can be simulated there, so nothing would be compared: name a driver (--device vulkan)");
    }
    return to_run;
  }

  std::vector<std::string> NamesOfDevices() const {
    if (devices_.empty() && !simulate_.empty() && simulate_ != "all") return {"auto"};
    if (!devices_.empty() && devices_ != std::vector<std::string>{"all"}) return devices_;
    std::vector<std::string> ids;
    for (const ListedDevice& listed : ListAllDevices()) {
      if (listed.candidate.usable) {
        ids.push_back(listed.id);
      } else {
        output_.PrintText(fmt::format("{}: skipped, {}\n", listed.id, listed.candidate.unusable_reason));
      }
    }
    return ids;
  }

  Status CheckFiles() const {
    for (const std::string* path : {&junit_path_, &html_path_}) {
      if (!path->empty()) HEARTH_TRY(CheckWritable(*path));
    }
    if (!failures_folder_.empty()) HEARTH_TRY(CheckFolderWritable(failures_folder_));
    return output_.CheckJson();
  }

  Status WriteReports(const std::vector<DeviceResults>& all) const {
    if (!junit_path_.empty()) HEARTH_TRY(WriteFile(junit_path_, conformance::JUnitXml(all)));
    if (!html_path_.empty()) HEARTH_TRY(WriteFile(html_path_, conformance::MatrixHtml(all)));
    for (const std::string* path : {&junit_path_, &html_path_}) {
      if (!path->empty()) output_.PrintText(fmt::format("written to {}\n", *path));
    }
    Json devices = Json::array();
    for (const DeviceResults& results : all) devices.push_back(ToJson(results));
    return output_.WriteJson({{"devices", std::move(devices)}});
  }

  std::vector<std::string> devices_;
  std::string simulate_;
  conformance::Selection selection_;
  std::string shard_, case_list_, expect_path_, junit_path_, html_path_, failures_folder_, journal_path_;
  std::vector<std::string> expect_lines_;  // of the file; expectations are parts of them
  bool list_ = false;
  OutputOptions output_;
};

}  // namespace

std::unique_ptr<Verb> MakeConformanceCommand() {
  return std::make_unique<ConformanceCommand>();
}

}  // namespace hearth
