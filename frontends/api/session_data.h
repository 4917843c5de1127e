// The data of a Session.
#ifndef HEARTH_FRONTENDS_API_SESSION_DATA_H_
#define HEARTH_FRONTENDS_API_SESSION_DATA_H_

#include <unistd.h>

#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "cache/files/wait_budget.h"
#include "core/base/log.h"
#include "core/plan/host_executor.h"
#include "frontends/engine/device_choice.h"
#include "frontends/engine/plan_cache.h"
#include "frontends/engine/tuned_start.h"
#include "hal/binding_layout.h"
#include "hal/external_frame.h"
#include "hal/frame_layout.h"
#include "hal/held_constants.h"
#include "hal/held_programs.h"
#include "hal/plan_runner.h"
#include "hal/stopwatch.h"
#include "hearth/session.h"

namespace hearth {

class SqliteStore;

// The source of an input or the destination of an output.
struct InterfaceState {
  bool is_set = false;        // inputs: SetInput was called
  bool is_on_device = false;  // bound to device memory
  // Bound to host memory.
  std::optional<BindingLayout> layout;
  std::span<std::byte> memory;
  std::optional<Frame> frame;  // inputs: bound to a picture in host memory
  // Inputs: the memory of a bound picture that several drivers share; `frame` is set if the host reads it.
  std::shared_ptr<ExternalFrame> external;
  bool is_bound() const { return is_on_device || layout || frame; }
  void Unbind() {
    is_on_device = false;
    layout.reset();
    frame.reset();
    external.reset();
  }
};

inline constexpr int kMostInFlight = 64;    // the limit of SessionOptions::max_in_flight
inline constexpr int kMostKeptShapes = 64;  // the limit of SessionOptions::kept_shapes
inline constexpr int kMostThreads = 1024;   // the limit of SessionOptions::threads

// A submitted run that has not been waited for.
struct RunSlot {
  uint64_t number = 0;   // 0: free
  bool is_done = false;  // repeated on another device: the outputs are complete
  // Copies, if the run may have to be repeated on another device: see KeepInputs.
  std::vector<std::vector<std::byte>> inputs;
  std::vector<KeptFrame> frames;  // an input whose frame has bytes is not made yet
  // By input: the frame that the device reads itself, from memory that several drivers share. It has no copy.
  std::vector<std::shared_ptr<ExternalFrame>> imported;
  std::vector<std::vector<std::byte>> outputs;
  double submitted_at_ms = 0;
};

class DeviceBehind;

// When a hot session moves to the device behind it.
enum class MoveRule : uint8_t {
  kWhenFaster,
  kWhenReady,  // for tests; also set by the environment variable HEARTH_HOT_MOVE=ready
};

// Parts of one model that a device already has, for plans of other shapes and for other sessions of the same device.
struct HeldParts {
  std::shared_ptr<HeldConstants> constants = std::make_shared<HeldConstants>();
  std::shared_ptr<HeldPrograms> programs = std::make_shared<HeldPrograms>();
};

// Members are destroyed from last to first: the runner before the device and the store. Parts that belong to one device
// (see SwapDevices) or one shape (see SwapShapes) may be made in a second SessionData of the same session (see
// DataBeside).
struct SessionData {
  SessionData();
  pid_t process = ::getpid();             // the process that opened it
  std::atomic<std::thread::id> caller{};  // the thread that is inside a public function
  Stopwatch since_asked;
  std::shared_ptr<const Model> owned_model;    // of the session and its clones
  const Model* model = nullptr;                // the caller's, owned_model or resized_model
  std::shared_ptr<const Model> resized_model;  // with the shapes that Resize was given
  SessionOptions options;
  std::shared_ptr<SessionWaits> waits;
  std::shared_ptr<ResultCache> store;
  SqliteStore* folder = nullptr;  // the folder's part of the store; may be null
  std::span<const BackendDef> backends = GpuBackends();
  std::vector<std::string> failed_ids;  // devices that `auto` left behind
  OpenedDevice opened;
  HeldParts held;                      // of that device
  std::shared_ptr<HostExecutor> host;  // of all shapes
  // The model's name in keys that are looked up. It is computed once per start, since that hashes the whole model
  // unless its file is known.
  std::string model_name;
  bool is_model_recalled = false;  // the cache knew the file
  PlanRequest plan_request;
  MadePlan made;
  std::unique_ptr<PlanRunner> runner;
  std::vector<std::vector<std::byte>> inputs, outputs;  // copies of SetInput; memory of output()
  // By output: the runner's own memory if output() shows that (PlanRunner::LentOutput), else empty.
  std::vector<std::span<std::byte>> lent_outputs;
  std::vector<InterfaceState> input_states, output_states;
  std::vector<RunSlot> slots;  // one per run that may be in flight
  uint64_t submit_count = 0;
  std::vector<StateContent> kept_states;  // see KeepStates; empty: zeros
  int runs_since_kept = 0;                // finished ones
  int threads = 1;
  int compile_threads = 0;   // 0: `threads`
  uint64_t rest_bytes = 0;   // the part of report.memory.needed_bytes that only this shape of this session needs
  uint64_t frame_bytes = 0;  // the part of rest_bytes for frames: see CountFrames
  uint64_t run_count = 0;    // runs that have begun
  bool has_run = false, is_saved = false;
  bool reads_frames = false;  // a FrameReading lives
  int restarts_behind = 0;    // the preparations of the device that changes of shapes ended
  bool is_slowed = false;     // the run in progress began beside the compilation for this session's device
  bool shows_run = false;     // output() shows the result of a run with these shapes
  bool tests_devices = true;  // runs the self-test; false in tests of other things
  bool is_beside = false;     // a second SessionData: the session logs its warnings
  std::stop_token stop;       // stops work on a background thread
  MoveRule move_rule = MoveRule::kWhenFaster;
  std::vector<double> cpu_ms;  // of a hot start's runs on the CPU, see BeginRun
  TuningOutcome tuning;
  mutable Report report;
  mutable size_t logged_warnings = 0;
  std::unique_ptr<DeviceBehind> behind;  // a hot start's device, until the session moves to it or gives it up
  // Data for earlier shapes of the session on the same device, most recently used first.
  std::vector<std::unique_ptr<SessionData>> other_shapes;

  ~SessionData();  // also of a session that could not be opened
  void LogNewWarnings() const {
    if (is_beside) return;
    for (; logged_warnings < report.warnings.size(); ++logged_warnings)
      Log(LogLevel::kWarning, report.warnings[logged_warnings]);
  }
};

using InputShapes = std::map<std::string, std::vector<int32_t>>;

// kDeviceLost if moving to another device failed as well.
Status CheckHasDevice(const SessionData& data);

// The index of the tensor with this name or alias; kInvalidArgument lists all names. `kind`: "input" or "output".
Result<size_t> IndexOf(const std::vector<TensorInfo>& tensors, std::string_view name, std::string_view kind);

// After a first run that failed: rejects the cache entries that it used, and makes them again. False if it used none,
// or if that fails too.
bool RestartWithoutStored(SessionData& data, const Status& failure);

// The rest of Session::Create, with the options, the model and the backends that `data` holds.
Result<Session> CreateSession(std::unique_ptr<SessionData> data);

// Fills data.plan_request from options, device and cache, without tuning results.
Status RequestPlan(SessionData& data);

// Makes everything that a run needs on the open device.
Status Prepare(SessionData& data);

// The same; under `auto`, on the next device if that fails.
Status PrepareOnAUsableDevice(SessionData& data);

// Runs once on this memory, without frames, and waits.
Status RunOnMemory(SessionData& data, std::span<const std::span<const std::byte>> inputs,
                   std::span<const std::span<std::byte>> outputs, std::vector<ProfileRow>* profile);

// The same on the session's own inputs and outputs, and with frames.
Status RunOnOwnMemory(SessionData& data, std::vector<ProfileRow>* profile);

// Before each run: makes inputs that are bound to frames in host memory, on the device or, if it can't, here.
Status PlaceFrames(SessionData& data);
// While it lives, frames in memory that several drivers share are written and may be read. It waits for their
// producers; an error of that is its status.
class FrameReading {
 public:
  explicit FrameReading(SessionData& data) : data_(data), status_(Begin()) { data_.reads_frames = true; }
  ~FrameReading();
  FrameReading(const FrameReading&) = delete;
  FrameReading& operator=(const FrameReading&) = delete;
  const Status& status() const { return status_; }

 private:
  Status Begin();
  SessionData& data_;
  Status status_;
};
// Lets the host read the frames that a lost device had imported: for the runs in flight, which get their inputs, and
// from now on. An error if it can't.
Status HandFramesToHost(SessionData& data);
// Makes the next run ignore frames.
Status DropFrames(SessionData& data);
// Copies the inputs of a run that may have to be repeated when they are gone. A frame is copied as it is: the device
// was to spare the CPU its conversion.
Status KeepInputs(const SessionData& data, RunSlot& slot);
// Makes the inputs of kept frames, to repeat the run.
void MakeKeptInputs(const SessionData& data, RunSlot& slot);

// Session::SaveToCache for the data's own device.
void SaveData(SessionData& data);

}  // namespace hearth

#endif  // HEARTH_FRONTENDS_API_SESSION_DATA_H_
