// Executes a plan: makes buffers, weights, programs and executables on a device, then runs them.
#ifndef HEARTH_HAL_PLAN_RUNNER_H_
#define HEARTH_HAL_PLAN_RUNNER_H_

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "core/plan/host_executor.h"
#include "core/plan/plan.h"
#include "core/store/result_cache.h"
#include "hal/constant_upload.h"
#include "hal/device.h"
#include "hal/held_constants.h"
#include "hal/held_programs.h"
#include "hal/load_or_compile.h"
#include "hal/runs_in_flight.h"
#include "hal/stopwatch.h"
#include "hal/watchdog_slices.h"

namespace hearth {

// Objects that a runner borrows; all must outlive it.
struct RunnerParts {
  Device* device = nullptr;         // null when the plan has no dispatches
  const Graph* graph = nullptr;     // the lowered graph; needed when the plan has host steps
  ModelFileBytes model_files;       // the files with the plan's constants
  HostExecutor* host = nullptr;     // needed when the plan has host steps
  ResultCache* store = nullptr;     // null: no cache
  int threads = 1;                  // of host steps
  int compile_threads = 0;          // 0: `threads`
  ModelBytesRead model_bytes_read;  // may be empty
  // Existing programs of the plan's kernels, in their order; empty: they are loaded or compiled. They must outlive the
  // runner.
  std::vector<Program*> programs = {};
  // Once requested, Create ends with an error before the next driver call; no cache entry is rejected for that.
  std::stop_token stop = {};
  // This model's constants in the device's memory; null: none are shared.
  HeldConstants* constants = nullptr;
  // Programs that are on the device already; null: none are shared.
  HeldPrograms* held_programs = nullptr;
  // As `all_anew` of LoadOrCompile.
  bool programs_anew = false;
  // The limit of a slice, for tests; otherwise the device's (SliceLimitMs).
  std::optional<double> slice_limit_ms = {};

  int CompileThreads() const { return compile_threads > 0 ? compile_threads : threads; }
};

struct RunnerTimes {
  double programs_ms = 0, weights_ms = 0;  // they overlap
};

// One dispatch or host step of a profiled run.
struct ProfileRow {
  std::string label, kernel;
  double milliseconds = 0;
};

// A state's elements, dense.
struct StateContent {
  std::string name;
  std::vector<std::byte> bytes;
};

// A run whose time counts for slices: no other one is in flight, and it waits for nobody's sync points.
struct TimedRun {
  size_t slot = 0;
  Stopwatch watch;
  double submit_ms = 0, host_ms = 0;  // of Submit, and of the host steps in it
};

// For one thread at a time, any thread.
class PlanRunner {
 public:
  // Compiles or loads the programs while the weights are packed and uploaded.
  static Result<std::unique_ptr<PlanRunner>> Create(Plan plan, const RunnerParts& parts);
  ~PlanRunner();

  const Plan& plan() const { return plan_; }
  const RunnerTimes& times() const { return times_; }
  const LoadedPrograms& programs() const { return programs_; }
  // Bytes of weights that were shared with other runners of RunnerParts::constants or RunnerParts::host when this one
  // was made, and bytes uploaded for it.
  uint64_t held_weights_bytes() const;
  uint64_t uploaded_weights_bytes() const { return constants_.made_bytes; }
  // The arena of the host steps' intermediate values; steps run one after the other, each with its own.
  MemoryFigures host_memory() const;
  uint64_t shared_host_weights_bytes() const;  // of host_memory().weights_bytes, see HostProgram

  // The runner's own memory of an output, if the last steps, on the CPU, make it in its final form: a Run that is given
  // this memory does not copy the output. It is zero before the first run and lives as long as the runner. Empty if
  // there is none.
  std::span<std::byte> LentOutput(size_t index) const;

  // Runs once, which also advances the states. `inputs` and `outputs` are in the plan's order; sizes must be those of
  // the tensors. Submit and Finish of a slot that needs no memory of its own. Precondition: no other slot is in use.
  Status Run(std::span<const std::span<const std::byte>> inputs, std::span<const std::span<std::byte>> outputs,
             std::vector<ProfileRow>* profile = nullptr);

  // Runs only the stages, for measuring, with the inputs of an earlier Run, or zeros for inputs that the CPU reads.
  Status RunStages();

  // A run in two halves: Submit returns when everything is submitted to the device, and Finish fetches the outputs.
  // Runs are numbered by `slot`, from 0. Each slot in use has its own memory for inputs and outputs; states change in
  // the order of Submit. Steps on the CPU run inside Submit, which waits for their inputs; without a device that is the
  // whole run. Submit already writes outputs that no dispatch makes. A slot whose Submit failed needs no Finish. With
  // `profile` the run is finished, step by step, when Submit returns.
  Status Submit(size_t slot, std::span<const std::span<const std::byte>> inputs,
                std::span<const std::span<std::byte>> outputs, const SubmitSync& sync = {},
                std::vector<ProfileRow>* profile = nullptr);
  Status Finish(size_t slot, std::span<const std::span<std::byte>> outputs);

  // From the next Submit on, the input is read from, or the output written to, the caller's memory; the arguments of
  // Submit and Finish for it are ignored. Run ignores bindings. kHost ends a binding. kUnsupported if the CPU reads or
  // makes the tensor; other errors as LayoutOf and Device::ImportBuffer. Precondition: a valid index.
  Status BindInput(size_t index, const Binding& binding);
  Status BindOutput(size_t index, const Binding& binding);

  // The same for a frame in device memory. Errors as BindInput.
  Status BindFrame(size_t index, const Frame& frame);

  // From the next Submit or Run on, the input is made from a frame in host memory, which each of them reads; their
  // argument for it is ignored. Null ends that. False if the CPU reads the input, which then takes no frame. Errors as
  // RunsInFlight::SetFrame; then the input takes no frame either. Precondition: a valid index.
  Result<bool> SetFrame(size_t index, const Frame* frame);
  // The memory that one run needs for them.
  uint64_t frame_bytes() const { return runs_ != nullptr ? runs_->frame_bytes() : 0; }

  // The bytes that the last finished run copied.
  const TransferCounts& transfers() const { return transfers_; }
  // Kernels compiled for bindings, runs in flight and parts of dispatches, in addition to programs().
  int more_programs_compiled() const;

  // Resets the states to real zeros, as before the first run.
  Status ResetState();
  // Reads the states after the last submitted run, and writes them, by name, into this plan or another device's.
  Result<std::vector<StateContent>> ReadStates();
  Status WriteStates(std::span<const StateContent> contents);

  // Rejects the cache entries that programs were loaded from, because a run with them failed. False if there are none.
  bool RejectLoaded(std::string_view reason);

  // After the first result: stores what this start had to make, and records in a new plan which constants the cache
  // keeps. If HasMoreToStore, call it again with false to store what was made since for bindings and runs in flight.
  // Returns warnings.
  std::vector<std::string> SaveToStore(bool plan_is_new);
  bool HasMoreToStore() const { return runs_ != nullptr && parts_.store != nullptr && runs_->HasMoreToStore(); }

 private:
  // Dispatches up to the next host step or the end of a slice (SlicesOf), or one host step.
  struct Stage {
    std::unique_ptr<Executable> executable;  // made when first needed
    std::vector<DispatchPart> dispatches;
    const HostStep* host = nullptr;
    std::unique_ptr<HostProgram> program;
  };

  PlanRunner(Plan plan, const RunnerParts& parts);
  Status MakeReady();
  Status CreateBuffers();
  // Lets later runners use the uploaded constants.
  void ShareConstants();
  // The range in device memory.
  BoundRange Located(const BufferRange& range) const;
  Status PrepareStages();
  void RecordDispatches(std::span<const DispatchPart> dispatches, CommandRecorder& recorder) const;
  // Programs for the dispatches of `stages` that run in parts.
  Status LoadPartPrograms(const std::vector<Stage>& stages);
  Result<Executable*> ExecutableOf(Stage& stage);
  void AddSlices(std::span<const size_t> dispatches, std::vector<Stage>& stages) const;
  Status PrepareExecutables(std::vector<Stage>& stages, std::vector<std::unique_ptr<Executable>>& whole);
  // For a plan without host steps: a whole run when no other is in flight, one submission per stage; the first and the
  // last include the copies from and to staging buffers. Empty if nothing is staged.
  Result<std::vector<std::unique_ptr<Executable>>> PrepareWhole(const std::vector<Stage>& stages);
  // Prepares whole_ again after frames were added or removed.
  Status RenewWhole();
  // The stages with slices as slice_clock_ corrects them; those of host steps have no program.
  std::vector<Stage> CutStages() const;
  // Cuts slices again if runs take longer or shorter than estimated. `milliseconds`: without host steps. Precondition:
  // no run is in flight.
  void NoteRunMs(double milliseconds);
  // After a run was finished, which took `finish_ms` of Finish.
  void NoteTimedRun(size_t slot, double finish_ms);
  // `reads`: how often nodes read each value.
  Status PrepareHost(const HostStep& step, const std::vector<int>& reads, bool is_last);
  // By value: outputs of the network that the last step may write directly, because nothing else needs those values.
  std::map<ValueId, size_t> OutputsMadeBy(const HostStep& last) const;
  Status SubmitInSlot(size_t slot, std::span<const std::span<const std::byte>> inputs,
                      std::span<const std::span<std::byte>> outputs, const SubmitSync& sync,
                      std::vector<ProfileRow>* profile);
  // Counts what host steps copy.
  Status SubmitStages(std::span<const std::span<const std::byte>> inputs, std::span<const std::span<std::byte>> outputs,
                      std::vector<ProfileRow>* profile, TransferCounts& counts);
  Status Hand(Executable& executable);  // submits it to the device
  // Waits until all submitted dispatches of the plan are finished.
  Status WaitForSubmitted();
  Status CopyHostOutputs(std::span<const std::span<const std::byte>> inputs,
                         std::span<const std::span<std::byte>> outputs) const;
  Status CheckSizes(std::span<const std::span<const std::byte>> inputs,
                    std::span<const std::span<std::byte>> outputs) const;
  Status ProfileDispatches(Stage& stage, std::vector<ProfileRow>& profile);
  Status RunHost(Stage& stage, std::span<const std::span<const std::byte>> inputs,
                 std::span<const std::span<std::byte>> outputs, std::vector<ProfileRow>* profile,
                 TransferCounts& counts);
  // An output that no dispatch makes: a host step's, or one of the network's own inputs or constants. Empty for any
  // other value.
  std::span<const std::byte> HostOutput(ValueId value, std::span<const std::span<const std::byte>> inputs) const;
  Status Upload(const HostTransfer& transfer, std::span<const std::byte> dense, TransferCounts& counts);
  Status Download(const HostTransfer& transfer, std::span<std::byte> dense, TransferCounts& counts);
  // After the last stage: copies the next content of states on the host.
  Status AdvanceHostStates(TransferCounts& counts);
  std::vector<std::byte>& HostValue(ValueId value);
  void NoteHostRead(ValueId value);

  Plan plan_;
  RunnerParts parts_;
  RunnerTimes times_;
  std::vector<std::shared_ptr<Buffer>> buffers_;  // null if constants are in separate buffers
  PlacedConstants constants_;
  LoadedPrograms programs_;
  std::vector<LoadedPrograms> part_programs_;
  std::map<uint32_t, Program*> part_program_;              // by index of the plan's kernel
  std::vector<double> pack_ms_;                            // per constant, of this start
  std::vector<Stage> stages_;                              // after buffers_ and programs_: executables go first
  std::map<ValueId, std::vector<std::byte>> host_values_;  // values that host steps make, or read from the device
  std::map<ValueId, size_t> host_inputs_;   // values read directly from the caller's input with this index
  std::map<ValueId, size_t> host_outputs_;  // values written directly to the caller's output with this index
  Executable* last_submitted_ = nullptr;    // one of those; null: nothing is left to wait for
  uint64_t last_submission_ = 0;
  std::vector<uint64_t> submissions_;  // of the last run; a clone's may have numbers between
  SliceClock slice_clock_;
  std::optional<TimedRun> timed_run_;
  int runs_in_flight_ = 0;
  bool is_ready_ = false;  // Create is done
  bool is_saved_ = false;  // SaveToStore was called
  TransferCounts transfers_;
  std::unique_ptr<RunsInFlight> runs_;              // null without a device; goes before the buffers
  std::vector<std::unique_ptr<Executable>> whole_;  // see PrepareWhole; uses the staging buffers of runs_
  bool whole_is_stale_ = false;                     // frames were added or removed
};

}  // namespace hearth

#endif  // HEARTH_HAL_PLAN_RUNNER_H_
