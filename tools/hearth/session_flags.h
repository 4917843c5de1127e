// Options for opening a model: the model itself, device, precision, cache, threads.
#ifndef HEARTH_TOOLS_HEARTH_SESSION_FLAGS_H_
#define HEARTH_TOOLS_HEARTH_SESSION_FLAGS_H_

#include <span>
#include <string>
#include <vector>

#include "hearth/model.h"
#include "hearth/session.h"
#include "tools/hearth/model_inputs.h"
#include "tools/hearth/printing.h"
#include "tools/hearth/verb.h"

namespace CLI {
class Option;
}

namespace hearth {

// --device alone, for verbs that open no session; the default is $HEARTH_DEVICE. `help`: the values that it takes, if
// not one name.
void AddDeviceOption(CLI::App& app, std::string& device, const std::string& help = "");
// --device with a list.
CLI::Option* AddDevicesOption(CLI::App& app, std::vector<std::string>& devices, const std::string& description);
// --simulate PROFILE. `also`: a word that it takes beside the profiles' names, and `more` says what that means.
CLI::Option* AddSimulateOption(CLI::App& app, std::string& profile, std::string_view also = {},
                               const std::string& more = "");
// --cpu-ops alone.
void AddCpuOpsOption(CLI::App& app, std::vector<std::string>& cpu_ops);

// Options on which a start's cache entries depend besides model and device: --precision, --model-token, --cpu-ops; and
// --threads.
void AddPlanOptions(CLI::App& app, SessionOptions& options);
// --tune, with a progress bar on standard error.
void AddTuneOption(CLI::App& app, SessionOptions& options);
// --cache-folder alone.
CLI::Option* AddCacheOption(CLI::App& app, std::string& folder);
// Options beside that folder: --cache-layer, --cache-max-bytes, --cache-server, --cache-server-keys,
// --cache-server-sign.
std::vector<CLI::Option*> AddCacheTierOptions(CLI::App& app, SessionOptions& options);

// MODEL, --signature, --shape, --dim, --constant, --ops: a model, its signature, what its file leaves open, and
// operators that it needs.
class ModelFlags {
 public:
  void AddOptions(CLI::App& app);
  // Without MODEL, for verbs with several models.
  void AddChoices(CLI::App& app);

  const std::string& path() const { return path_; }
  bool has_shapes() const { return !shapes_.empty(); }

  // The options on the command line. Open shapes that it does not give come from the input files in `inputs`, which may
  // be null; so do the contents of inputs that decide shapes, whose files `inputs` then no longer has. kInvalidArgument
  // for an invalid shape.
  Result<ModelOptions> Options(InputOptions* inputs) const;

 private:
  std::string path_, signature_;
  std::vector<std::string> shapes_;      // "NAME=1x224x224x3"
  std::vector<std::string> dimensions_;  // "NAME=SIZE"
  std::vector<std::string> ops_;         // files of shared libraries
  std::vector<std::string> constants_;   // "NAME=16000", "NAME=FILE.npy"
};

// MODEL and all session options.
class SessionFlags {
 public:
  // `device_help`: the values that --device takes, if not one name.
  void AddOptions(CLI::App& app, const std::string& device_help = "");

  const std::string& path() const { return model_flags_.path(); }
  bool has_shapes() const { return model_flags_.has_shapes(); }  // given by --shape
  // `inputs`: files that determine shapes which model and --shape leave open.
  Result<SessionOptions> Options(InputOptions& inputs) const;
  Result<Session> Open(InputOptions& inputs) const;

  // After the results of a hot start: waits until the background device is ready, so that the cache keeps its programs.
  // Reports a named device that is not usable, with the exit code.
  ExitCode WaitForDevice(Session& session) const;

  // With --expect-warm: kFailed and a message if this start compiled anything.
  ExitCode CodeOf(const Report& report) const;

 private:
  ModelFlags model_flags_;
  SessionOptions options_;
  bool no_cache_ = false, expect_warm_ = false;
};

// Copies every input into the session.
Status SetInputs(Session& session, std::span<const std::vector<std::byte>> inputs);

// Prints the report's warnings, each only once.
class WarningPrinter {
 public:
  explicit WarningPrinter(const OutputOptions& output) : output_(output) {}
  void PrintNew(const Report& report);

 private:
  const OutputOptions& output_;
  size_t printed_ = 0;
};

// The report as JSON, with "outputs" and, in "device", the profile that it simulates.
Json ReportJson(const Report& report, Json outputs);

// "opencl:0 (NVIDIA ...): asked for as 'opencl'", and where the operators run.
std::string DeviceText(const Report& report);

}  // namespace hearth

#endif  // HEARTH_TOOLS_HEARTH_SESSION_FLAGS_H_
