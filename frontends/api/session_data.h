// What a Session holds.
#ifndef HEARTH_FRONTENDS_API_SESSION_DATA_H_
#define HEARTH_FRONTENDS_API_SESSION_DATA_H_

#include <unistd.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cache/wait_budget.h"
#include "core/base/log.h"
#include "core/plan/host_executor.h"
#include "frontends/engine/device_choice.h"
#include "frontends/engine/plan_cache.h"
#include "frontends/engine/tuned_start.h"
#include "hal/edge_layout.h"
#include "hal/plan_runner.h"
#include "hal/stopwatch.h"
#include "hearth/session.h"

namespace hearth {

// Where an input comes from or an output goes to.
struct EdgeState {
  bool is_set = false;        // inputs: SetInput was called
  bool is_on_device = false;  // bound to memory of the device's
  // Bound to host memory.
  std::optional<EdgeLayout> layout;
  std::span<std::byte> memory;
};

// A run that was submitted and not waited for.
struct RunSlot {
  uint64_t number = 0;                         // 0: free
  bool is_done = false;                        // repeated on another device: the outputs are there
  std::vector<std::vector<std::byte>> inputs;  // a copy, where the device may be lost and the run be repeated
  std::vector<std::vector<std::byte>> outputs;
  double submitted_at_ms = 0;
};

// Members are destroyed from the last to the first: the runner before the device and the store.
struct SessionData {
  pid_t process = ::getpid();  // that opened it
  Stopwatch since_asked;
  std::optional<Model> owned_model;
  const Model* model = nullptr;
  SessionOptions options;
  std::optional<SessionWaits> waits;
  std::unique_ptr<BlobStore> store;
  std::span<const BackendDef> backends = GpuBackends();
  std::vector<std::string> failed_ids;  // devices that `auto` left behind
  OpenedDevice opened;
  std::unique_ptr<HostExecutor> host;
  PlanRequest plan_request;
  MadePlan made;
  std::unique_ptr<PlanRunner> runner;
  std::vector<std::vector<std::byte>> inputs, outputs;  // what SetInput copied, and what output() shows
  std::vector<EdgeState> input_states, output_states;
  std::vector<RunSlot> slots;  // as many as runs may be in flight
  uint64_t submit_count = 0;
  std::vector<StateContent> kept_states;  // see KeepStates; empty: zeros
  int runs_since_kept = 0;                // finished ones
  int threads = 1;
  bool has_run = false, is_saved = false;
  TuningOutcome tuning;
  mutable Report report;
  mutable size_t logged_warnings = 0;

  ~SessionData() { LogNewWarnings(); }  // also of a session that could not be opened
  void LogNewWarnings() const {
    for (; logged_warnings < report.warnings.size(); ++logged_warnings)
      Log(LogLevel::kWarning, report.warnings[logged_warnings]);
  }
};

// After a first run that failed: what came from the cache is taken out of it and made anew. False where nothing did, or
// where that fails too.
bool RestartWithoutStored(SessionData& data, const Status& failure);

// The rest of Session::Create, with the options, the model and the backends that `data` holds.
Result<Session> CreateSession(std::unique_ptr<SessionData> data);

// Makes all that a run needs on the device that is open, and under `auto` on the next one where that fails.
Status PrepareOnAUsableDevice(SessionData& data);

}  // namespace hearth

#endif  // HEARTH_FRONTENDS_API_SESSION_DATA_H_
