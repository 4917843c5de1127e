// A plan on a device: its memory, weights and programs. Nothing in it changes by running; plan_runs.h runs it.
#ifndef HEARTH_HAL_RUN_LOADED_PLAN_H_
#define HEARTH_HAL_RUN_LOADED_PLAN_H_

#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "core/plan/host_executor.h"
#include "core/plan/plan.h"
#include "core/store/result_cache.h"
#include "hal/device/device.h"
#include "hal/programs/program_keys.h"
#include "hal/run/resident_constants.h"
#include "hal/run/watchdog_slices.h"

namespace hearth {

// What a plan is loaded with. All of it must outlive the loaded plan.
struct LoadRequest {
  Device* device = nullptr;
  const Graph* graph = nullptr;     // the lowered graph; needed if the plan runs on the CPU in part
  ModelFileBytes model_files;       // the files with the plan's constants
  HostExecutor* host = nullptr;     // needed if the plan runs on the CPU in part
  ResultCache* store = nullptr;     // null: no cache
  int threads = 1;                  // of nodes on the CPU
  int compile_threads = 0;          // 0: `threads`
  ModelBytesRead model_bytes_read;  // may be empty
  ModelBytesCopy copy_model_bytes;  // may be empty
  // Existing programs of the plan's kernels, in their order; empty: they are loaded or compiled.
  std::vector<Program*> programs = {};
  // Once requested, loading ends with an error before the next driver call; no cache entry is rejected for that.
  std::stop_token stop = {};
  // This model's constants in the device's memory; null: none are shared.
  std::shared_ptr<ResidentConstants> constants = nullptr;
  // Programs that are on the device already; null: none are shared.
  std::shared_ptr<SharedPrograms> shared_programs = nullptr;
  // As `all_anew` of LoadOrCompile.
  bool programs_anew = false;
  // The limit of a slice, for tests; otherwise the device's (SliceLimitMs).
  std::optional<double> slice_limit_ms = {};

  int CompileThreads() const { return compile_threads > 0 ? compile_threads : threads; }
};

struct LoadTimes {
  double programs_ms = 0, weights_ms = 0;  // they overlap
};

// For one thread at a time, any thread, because programs are.
class LoadedPlan {
 public:
  // Compiles or loads the programs while the weights are packed and uploaded. After an error, the cache entries that it
  // may be due to are rejected.
  static Result<std::unique_ptr<LoadedPlan>> Load(Plan plan, LoadRequest request);
  ~LoadedPlan();

  const Plan& plan() const { return plan_; }
  const LoadRequest& request() const { return request_; }
  Device& device() const { return *request_.device; }
  const LoadTimes& times() const { return times_; }
  const LoadedPrograms& programs() const { return programs_; }
  // By segment; null for those of the device.
  std::span<const std::unique_ptr<HostProgram>> host_programs() const { return host_programs_; }

  // Bytes of weights that were shared with other plans of LoadRequest::constants or LoadRequest::host when this one was
  // loaded, and bytes uploaded for it.
  uint64_t held_weights_bytes() const;
  uint64_t uploaded_weights_bytes() const { return constants_.made_bytes; }
  // The arena of intermediate values on the CPU; segments run one after the other, each with its own.
  MemoryFigures host_memory() const;
  uint64_t shared_host_weights_bytes() const;                     // of host_memory().weights_bytes, see HostProgram
  std::vector<std::span<const std::byte>> read_in_place() const;  // of all host programs

  // The range in device memory.
  BoundRange Located(const BufferRange& range) const;
  // Records dispatches of the plan. `part_programs`: by kernel, for those that run in parts (WithFirstGroup).
  void Record(std::span<const DispatchPart> dispatches, std::span<Program* const> part_programs,
              CommandRecorder& recorder) const;

  // Rejects the cache entries that programs were loaded from, because a run with them failed. False if there are none.
  bool RejectLoaded(std::string_view reason);
  // After the first result: stores what loading had to make, and records in a new plan which constants the cache keeps.
  // Returns warnings. Precondition: there is a store.
  std::vector<std::string> Store(bool plan_is_new);

 private:
  LoadedPlan(Plan plan, LoadRequest request);
  Status MakeReady();
  Status LoadPrograms();
  Status CreateBuffers();
  // Lets later plans use the uploaded constants.
  void ShareConstants();
  Status PrepareHostPrograms();

  Plan plan_;
  LoadRequest request_;
  LoadTimes times_;
  std::vector<std::shared_ptr<Buffer>> buffers_;  // null if constants are in separate buffers
  PlacedConstants constants_;
  std::vector<double> pack_ms_;  // per constant, by this load
  LoadedPrograms programs_;
  std::vector<std::unique_ptr<HostProgram>> host_programs_;
};

}  // namespace hearth

#endif  // HEARTH_HAL_RUN_LOADED_PLAN_H_
