// The options that say how a model is opened: device, precision, cache, threads.
#ifndef HEARTH_TOOLS_HEARTH_SESSION_FLAGS_H_
#define HEARTH_TOOLS_HEARTH_SESSION_FLAGS_H_

#include <span>
#include <string>
#include <vector>

#include "hearth/session.h"
#include "tools/hearth/exit_code.h"
#include "tools/hearth/model_flags.h"
#include "tools/hearth/printing.h"

namespace CLI {
class Option;
}

namespace hearth {

// --device alone, for verbs that open no session; $HEARTH_DEVICE where it is not given.
// `help`: what it takes, where it is not one name.
void AddDeviceOption(CLI::App& app, std::string& device, const std::string& help = "");
// --device with a list.
CLI::Option* AddDevicesOption(CLI::App& app, std::vector<std::string>& devices, const std::string& description);
// --cpu-ops alone.
// --simulate PROFILE.
void AddSimulateOption(CLI::App& app, std::string& profile, const std::string& more = "");
void AddCpuOpsOption(CLI::App& app, std::vector<std::string>& cpu_ops);

// What a start's cache entries depend on besides model and device: --precision, --model-token, --cpu-ops; and
// --threads.
void AddPlanOptions(CLI::App& app, SessionOptions& options);
// --tune, with a progress bar on standard error.
void AddTuneOption(CLI::App& app, SessionOptions& options);
// --start, --memory-limit.
void AddStartOptions(CLI::App& app, SessionOptions& options);
// --cache alone.
CLI::Option* AddCacheOption(CLI::App& app, std::string& folder);
// What stands around that folder: --cache-layer, --cache-max-size, --cache-server, --cache-server-keys,
// --cache-server-sign.
std::vector<CLI::Option*> AddCacheTierOptions(CLI::App& app, SessionOptions& options);

// MODEL and all session options.
class SessionFlags {
 public:
  // `device_help`: what --device takes, where it is more than one name.
  void AddOptions(CLI::App& app, const std::string& device_help = "");

  const std::string& path() const { return model_flags_.path(); }
  // `inputs`: their files decide shapes that the model leaves open and --shape does not say.
  Result<SessionOptions> Options(const InputOptions& inputs) const;
  Result<Session> Open(const InputOptions& inputs) const;

  // After the answers of a hot start: waits until the device behind is ready, so that the cache keeps what it made. A
  // named device that is not usable is told, and the exit code.
  ExitCode WaitForDevice(Session& session) const;

  // With --expect-warm, kFailed and a sentence where this start compiled anything.
  ExitCode CodeOf(const Report& report) const;

 private:
  ModelFlags model_flags_;
  SessionOptions options_;
  bool no_cache_ = false, expect_warm_ = false;
};

// Copies every input into the session.
Status SetInputs(Session& session, std::span<const std::vector<std::byte>> inputs);

// Prints the report's warnings, each once over the object's life.
class WarningPrinter {
 public:
  explicit WarningPrinter(const OutputOptions& output) : output_(output) {}
  void PrintNew(const Report& report);

 private:
  const OutputOptions& output_;
  size_t printed_ = 0;
};

// The report as JSON, with "outputs" in its place.
Json ReportJson(const Report& report, Json outputs);

// "opencl:0 (NVIDIA ...): asked for as 'opencl'" and what runs where.
std::string DeviceText(const Report& report);

}  // namespace hearth

#endif  // HEARTH_TOOLS_HEARTH_SESSION_FLAGS_H_
