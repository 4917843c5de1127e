// What a Session holds.
#ifndef HEARTH_FRONTENDS_API_SESSION_DATA_H_
#define HEARTH_FRONTENDS_API_SESSION_DATA_H_

#include <unistd.h>

#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "cache/wait_budget.h"
#include "core/base/log.h"
#include "core/plan/host_executor.h"
#include "frontends/engine/device_choice.h"
#include "frontends/engine/plan_cache.h"
#include "frontends/engine/tuned_start.h"
#include "hal/binding_layout.h"
#include "hal/held_constants.h"
#include "hal/held_programs.h"
#include "hal/plan_runner.h"
#include "hal/stopwatch.h"
#include "hearth/session.h"

namespace hearth {

class SqliteStore;

// Where an input comes from or an output goes to.
struct InterfaceState {
  bool is_set = false;        // inputs: SetInput was called
  bool is_on_device = false;  // bound to memory of the device's
  // Bound to host memory.
  std::optional<BindingLayout> layout;
  std::span<std::byte> memory;
  std::optional<Frame> frame;  // inputs: bound to a picture in host memory
  bool is_bound() const { return is_on_device || layout || frame; }
};

inline constexpr int kMostInFlight = 64;    // what SessionOptions::max_in_flight may be at most
inline constexpr int kMostKeptShapes = 64;  // SessionOptions::kept_shapes

// A run that was submitted and not waited for.
struct RunSlot {
  uint64_t number = 0;                         // 0: free
  bool is_done = false;                        // repeated on another device: the outputs are there
  std::vector<std::vector<std::byte>> inputs;  // a copy, where the device may be lost and the run be repeated
  std::vector<std::vector<std::byte>> outputs;
  double submitted_at_ms = 0;
};

class DeviceBehind;

// When a hot session moves to the device behind it.
enum class MoveRule : uint8_t {
  kWhenFaster,
  kWhenReady,  // for tests; the environment variable HEARTH_HOT_MOVE=ready says so too
};

// What a device has already of one model: for plans of other shapes, and for other sessions of the same device.
struct HeldParts {
  std::shared_ptr<HeldConstants> constants = std::make_shared<HeldConstants>();
  std::shared_ptr<HeldPrograms> programs = std::make_shared<HeldPrograms>();
};

// Members are destroyed from the last to the first: the runner before the device and the store. What is made for one
// device (see SwapDevices) or one shape (see SwapShapes) may be made in a second SessionData of the same session, see
// DataBeside.
struct SessionData {
  SessionData();
  pid_t process = ::getpid();  // that opened it
  Stopwatch since_asked;
  std::shared_ptr<const Model> owned_model;    // of the session and its clones
  const Model* model = nullptr;                // the caller's, owned_model or resized_model
  std::shared_ptr<const Model> resized_model;  // with the shapes that Resize was given
  SessionOptions options;
  std::shared_ptr<SessionWaits> waits;
  std::shared_ptr<BlobStore> store;
  SqliteStore* folder = nullptr;  // the folder's part of the store; null where there is none
  std::span<const BackendDef> backends = GpuBackends();
  std::vector<std::string> failed_ids;  // devices that `auto` left behind
  OpenedDevice opened;
  HeldParts held;                      // of that device
  std::shared_ptr<HostExecutor> host;  // of all shapes
  // In keys that are looked up; found once a start, since all of the model is hashed for it, unless its file is known.
  std::string model_name;
  bool is_model_recalled = false;  // the cache knew the file
  PlanRequest plan_request;
  MadePlan made;
  std::unique_ptr<PlanRunner> runner;
  std::vector<std::vector<std::byte>> inputs, outputs;  // what SetInput copied, and what output() shows
  // Of those that output() shows, where the runner makes them (PlanRunner::LentOutput); by output, else empty.
  std::vector<std::span<std::byte>> lent_outputs;
  std::vector<InterfaceState> input_states, output_states;
  std::vector<RunSlot> slots;  // as many as runs may be in flight
  uint64_t submit_count = 0;
  std::vector<StateContent> kept_states;  // see KeepStates; empty: zeros
  int runs_since_kept = 0;                // finished ones
  int threads = 1;
  uint64_t rest_bytes = 0;  // of what report.memory.needed_bytes counts: all that only this shape of this session needs
  uint64_t frame_bytes = 0;  // of these, what frames need: see CountFrames
  uint64_t run_count = 0;    // begun
  bool has_run = false, is_saved = false;
  bool tests_devices = true;  // see SelfTest; false for tests of other things
  bool is_beside = false;     // its warnings are told by the session
  std::stop_token stop;       // of what is made on a thread behind
  MoveRule move_rule = MoveRule::kWhenFaster;
  std::vector<double> cpu_ms;  // of a hot start's runs on the CPU, see BeginRun
  TuningOutcome tuning;
  mutable Report report;
  mutable size_t logged_warnings = 0;
  std::unique_ptr<DeviceBehind> behind;  // of a hot start, until it was moved to or given up
  // Ready for the shapes that the session had before on the same device, the most recently used first.
  std::vector<std::unique_ptr<SessionData>> other_shapes;

  ~SessionData();  // also of a session that could not be opened
  void LogNewWarnings() const {
    if (is_beside) return;
    for (; logged_warnings < report.warnings.size(); ++logged_warnings)
      Log(LogLevel::kWarning, report.warnings[logged_warnings]);
  }
};

using InputShapes = std::map<std::string, std::vector<int32_t>>;

// kDeviceLost where moving to another device failed, too.
Status CheckHasDevice(const SessionData& data);

// Of the tensor with this name or alias; kInvalidArgument lists all names. `kind`: "input".
Result<size_t> IndexOf(const std::vector<TensorInfo>& tensors, std::string_view name, std::string_view kind);

// After a first run that failed: what came from the cache is taken out of it and made anew. False where nothing did, or
// where that fails too.
bool RestartWithoutStored(SessionData& data, const Status& failure);

// The rest of Session::Create, with the options, the model and the backends that `data` holds.
Result<Session> CreateSession(std::unique_ptr<SessionData> data);

// The words of options, device and cache as data.plan_request, without what tuning found.
Status RequestPlan(SessionData& data);

// Makes all that a run needs on the device that is open.
Status Prepare(SessionData& data);

// The same, and under `auto` on the next one where that fails.
Status PrepareOnAUsableDevice(SessionData& data);

// Drivers' threads and connections are not in a forked child; a run there would wait for ever.
Status CheckProcess(const SessionData& data);

// One run on this memory, waited for, without frames.
Status RunOnMemory(SessionData& data, std::span<const std::span<const std::byte>> inputs,
                   std::span<const std::span<std::byte>> outputs, std::vector<ProfileRow>* profile);

// The same on the session's own inputs and outputs, and with frames.
Status RunOnOwnMemory(SessionData& data, std::vector<ProfileRow>* profile);

// Before each run: inputs that are bound to frames in host memory are made by the device, or here where it does not.
Status PlaceFrames(SessionData& data);
// For a run without frames.
Status DropFrames(SessionData& data);
// All of them into dense inputs, for a run that may have to be repeated when the frames are gone.
Status ReadFrames(SessionData& data);

// Session::SaveToCache for what is made for the data's own device.
void SaveData(SessionData& data);

}  // namespace hearth

#endif  // HEARTH_FRONTENDS_API_SESSION_DATA_H_
