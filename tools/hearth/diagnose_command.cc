// hearth diagnose FILE: the facts that a problem report needs.
#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <vector>

#include "core/base/environment.h"
#include "core/base/error.h"
#include "core/device/driver_environment.h"
#include "hearth/cache.h"
#include "hearth/device.h"
#include "hearth/graph_builder.h"
#include "hearth/session.h"
#include "hearth/version.h"
#include "runtime/devices/backends.h"
#include "runtime/devices/driver_watch.h"
#include "tools/hearth/device_listing.h"
#include "tools/hearth/error_record.h"
#include "tools/hearth/files.h"
#include "tools/hearth/printing.h"
#include "tools/hearth/session_flags.h"
#include "tools/hearth/verb.h"

namespace hearth {
namespace {

// How variables begin that choose a driver or its folders, or how Hearth works. Those by which drivers make other code
// have a table (core/device/driver_environment.h).
constexpr std::array<std::string_view, 16> kBeginnings = {
    "HEARTH_",  "MESA_",     "VK_",  "POCL_",  "OCL_ICD_", "OPENCL_",         "LIBGL_",
    "GALLIUM_", "LP_",       "EGL_", "__EGL_", "DISPLAY",  "WAYLAND_DISPLAY", "CUDA_VISIBLE_DEVICES",
    "NVIDIA_",  "LD_PRELOAD"};

// Only names are reported: values contain paths.
std::vector<std::string> VariablesThatAreSet() {
  std::vector<std::string> names;
  for (const std::string& variable : VariablesBeginningWith("")) {
    const std::string name = variable.substr(0, variable.find('='));
    const bool begins_so =
        std::ranges::any_of(kBeginnings, [&name](std::string_view beginning) { return name.starts_with(beginning); });
    if (begins_so || IsDriverVariable(name)) names.push_back(name);
  }
  return names;
}

// The value of the first line "KEY<separator>VALUE" of a small system file; empty if there is none.
std::string ValueIn(const char* file, std::string_view key, char separator) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    const size_t at = line.find(separator);
    if (at == std::string::npos || line.substr(0, line.find_last_not_of(" \t", at - 1) + 1) != key) continue;
    const size_t first = line.find_first_not_of(" \t\"", at + 1);
    return first == std::string::npos ? "" : line.substr(first, line.find_last_not_of(" \t\"") - first + 1);
  }
  return "";
}

Json SystemJson() {
  utsname names = {};
  uname(&names);
  return {{"kernel", fmt::format("{} {}", names.sysname, names.release)},
          {"machine", names.machine},
          {"distribution", ValueIn("/etc/os-release", "PRETTY_NAME", '=')},
          {"processor", ValueIn("/proc/cpuinfo", "model name", ':')},
          {"processors", sysconf(_SC_NPROCESSORS_ONLN)},
          {"memory", ValueIn("/proc/meminfo", "MemTotal", ':')},
          {"compiler", __VERSION__}};
}

// Runs a convolution with a known result: "fine", or the error.
std::string SelfTest(const std::string& device, const std::string& profile) {
  const auto test = [&]() -> Status {
    GraphBuilder builder("self test");
    constexpr std::array<float, 9> kOnes = {1, 1, 1, 1, 1, 1, 1, 1, 1};
    const BuilderTensor kernel = builder.Constant("kernel", {1, 3, 3, 1}, kOnes);
    builder.Output(builder.Conv2D(builder.Input("x", {1, 8, 8, 1}), kernel, {}, {}), "sum");
    HEARTH_ASSIGN(const Model model, std::move(builder).Build());
    HEARTH_ASSIGN(
        Session session,
        Session::Create(model, {.device = device, .simulate = profile, .use_cache = false, .start = "ready"}));
    const std::vector<float> ones(64, 1.0f);
    HEARTH_TRY(session.SetInput(0, std::as_bytes(std::span(ones))));
    HEARTH_TRY(session.Run());
    const std::span<const std::byte> bytes = session.output(0);
    const float* sums = reinterpret_cast<const float*>(bytes.data());
    for (size_t k = 0; k < bytes.size() / sizeof(float); ++k) {
      if (sums[k] != 9 && sums[k] != 6 && sums[k] != 4)
        return Error(StatusCode::kInternal, "wrong sums: {} at {}", sums[k], k);
    }
    return Status::Ok();
  };
  const Status status = test();
  return status.ok() ? "fine" : WithoutUserData(status.message());
}

Result<Json> DevicesJson(const std::string& profile) {
  Json list = Json::array();
  HEARTH_ASSIGN(const std::vector<DeviceDescription> devices, ListDevicesAs(profile));
  for (const DeviceDescription& device : devices) {
    Json json = {{"id", device.id},
                 {"backend", device.backend},
                 {"name", device.name},
                 {"driver", device.driver},
                 {"type", device.type},
                 {"usable", device.usable},
                 {"reason", WithoutUserData(device.reason)},
                 {"limits", device.features},
                 {"rules", device.rules}};
    json["limits"].erase("uuid");                // it identifies the machine
    json["limits"].erase("driver_environment");  // digests of values, which can be guessed; the names are told above
    if (device.usable) json["self_test"] = SelfTest(device.id, profile);
    list.push_back(std::move(json));
  }
  return list;
}

Json CacheJson() {
  const auto read = []() -> Result<Json> {
    HEARTH_ASSIGN(const Cache cache, Cache::At());
    HEARTH_ASSIGN(const CacheStats stats, cache.Stats());
    HEARTH_ASSIGN(const CacheVerification verification, cache.Verify(false));
    Json kinds = Json::object();
    for (const auto& [kind, of_kind] : stats.kinds)
      kinds[kind] = {{"entries", of_kind.entries}, {"bytes", of_kind.blob_bytes}};
    return Json{{"entries", stats.entries},
                {"blob_bytes", stats.blob_bytes},
                {"file_bytes", stats.file_bytes},
                {"quarantined", stats.quarantined},
                {"hits", stats.lifetime.hits},
                {"misses", stats.lifetime.misses},
                {"rejected", stats.lifetime.rejected},
                {"put_errors", stats.lifetime.put_errors},
                {"damages", verification.damages.size()},
                {"kinds", kinds}};
  };
  Result<Json> json = read();
  return json.ok() ? std::move(*json) : Json{{"error", WithoutUserData(json.status().message())}};
}

class DiagnoseCommand final : public Verb {
 public:
  DiagnoseCommand()
      : Verb({"diagnose", "Writes a problem report into one file: devices, limits, versions, errors, cache",
              "hearth diagnose hearth-report.json"}) {}

  void AddOptions(CLI::App& app) override {
    app.add_option("FILE", path_, "Where the JSON goes; - for standard output")->required()->type_name("");
    AddSimulateOption(app, simulate_);
  }

  Result<ExitCode> Run() override {
    if (path_ != "-") HEARTH_TRY(CheckWritable(path_));
    LookInAChildFirst(GpuBackends());  // a driver that crashes must not end the report about it
    HEARTH_ASSIGN(Json devices, DevicesJson(simulate_));
    const Json json = {{"hearth", HEARTH_VERSION},      {"system", SystemJson()}, {"variables", VariablesThatAreSet()},
                       {"devices", std::move(devices)}, {"cache", CacheJson()},   {"last_errors", RecordedErrors()}};
    const std::string text = json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
    if (path_ == "-") {
      std::fwrite(text.data(), 1, text.size(), stdout);
      return ExitCode::kFine;
    }
    HEARTH_TRY(WriteFile(path_, text));
    const std::string told = fmt::format(
        "{} tells devices, limits, versions, the cache's state and the last errors; paths, names and values of "
        "variables are left out. Read it before you send it.\n",
        path_);
    std::fwrite(told.data(), 1, told.size(), stdout);
    return ExitCode::kFine;
  }

 private:
  std::string path_, simulate_;
};

}  // namespace

std::unique_ptr<Verb> MakeDiagnoseCommand() {
  return std::make_unique<DiagnoseCommand>();
}

}  // namespace hearth
