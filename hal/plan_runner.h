// A plan made real on a device: buffers, weights, programs, executables; then runs.
#ifndef HEARTH_HAL_PLAN_RUNNER_H_
#define HEARTH_HAL_PLAN_RUNNER_H_

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "core/base/blob_store.h"
#include "core/plan/host_executor.h"
#include "core/plan/plan.h"
#include "hal/constant_upload.h"
#include "hal/device.h"
#include "hal/held_constants.h"
#include "hal/held_programs.h"
#include "hal/load_or_compile.h"
#include "hal/runs_in_flight.h"
#include "hal/watchdog_slices.h"

namespace hearth {

// What a runner borrows; all of it must outlive the runner.
struct RunnerParts {
  Device* device = nullptr;      // null when the plan has no dispatches
  const Graph* graph = nullptr;  // the lowered graph; needed when the plan has host steps
  ModelFileBytes model_files;    // where the plan's constants lie
  HostExecutor* host = nullptr;  // needed when the plan has host steps
  BlobStore* store = nullptr;    // null: no cache
  int threads = 1;
  ModelBytesRead model_bytes_read;  // may be empty
  // Programs of the plan's kernels that are there already, in their order; empty: loaded or compiled. They must outlive
  // the runner.
  std::vector<Program*> programs = {};
  // Once requested, Create ends with an error before the next call to the driver; nothing of the cache is to blame
  // then.
  std::stop_token stop = {};
  // What lies in the device's memory of this model's constants; null: nothing is shared.
  HeldConstants* constants = nullptr;
  // Programs that the device has already; null: none are shared.
  HeldPrograms* held_programs = nullptr;
  // As `all_anew` of LoadOrCompile.
  bool programs_anew = false;
  // Of a slice, for tests; else the device's (SliceLimitMs).
  std::optional<double> slice_limit_ms = {};
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

// For one thread at a time, any thread.
class PlanRunner {
 public:
  // Compiles or loads the programs while the weights are packed and uploaded.
  static Result<std::unique_ptr<PlanRunner>> Create(Plan plan, const RunnerParts& parts);
  ~PlanRunner();

  const Plan& plan() const { return plan_; }
  const RunnerTimes& times() const { return times_; }
  const LoadedPrograms& programs() const { return programs_; }
  // Of weights: shared with other runners of RunnerParts::constants, or of RunnerParts::host, when this one was made,
  // and uploaded for it.
  uint64_t held_weights_bytes() const;
  uint64_t uploaded_weights_bytes() const { return constants_.made_bytes; }
  // The arena of the host steps' intermediate values; steps run one after the other, each with its own.
  MemoryFigures host_memory() const;
  uint64_t shared_host_weights_bytes() const;  // of host_memory().weights_bytes, see HostProgram

  // Where the last steps, on the CPU, make an output as it is handed out: a Run that is given this memory for it copies
  // nothing. Zeros before the first run, the runner's as long as it lives. Empty where there is no such place.
  std::span<std::byte> LentOutput(size_t index) const;

  // One inference, which also advances the states. `inputs` and `outputs` follow the plan's; sizes must be the tensors'
  // own.
  // Submit and Finish of a slot that needs no memory of its own. Precondition: no other slot is in use.
  Status Run(std::span<const std::span<const std::byte>> inputs, std::span<const std::span<std::byte>> outputs,
             std::vector<ProfileRow>* profile = nullptr);

  // The stages alone, with what a Run before it left in the inputs, or zeros where the CPU reads them: for measuring.
  Status RunStages();

  // A run in two halves: Submit returns when all is handed to the device, which then works without waiting for this
  // thread, and Finish brings the outputs. Runs are numbered by `slot`, from 0; each slot that is in use at once has
  // memory of its own for inputs and outputs, and all see each other's effect on the states in the order of Submit.
  // Steps on the CPU are done in Submit, which waits for what they read; without a device all of the run is. Outputs
  // that no dispatch makes are written by Submit already. A slot whose Submit failed needs no Finish. With `profile`
  // the run is finished, step by step, when Submit returns.
  Status Submit(size_t slot, std::span<const std::span<const std::byte>> inputs,
                std::span<const std::span<std::byte>> outputs, const SubmitSync& sync = {},
                std::vector<ProfileRow>* profile = nullptr);
  Status Finish(size_t slot, std::span<const std::span<std::byte>> outputs);

  // From the next Submit on, the input is read from, or the output written to, memory of the caller's; what Submit and
  // Finish are given for it is ignored. Run does not know bindings. kHost ends one. kUnsupported where the
  // CPU reads or makes it; otherwise as LayoutOf and Device::ImportBuffer. Precondition: a right index.
  Status BindInput(size_t index, const Binding& binding);
  Status BindOutput(size_t index, const Binding& binding);

  // The same for a frame in memory of the device's. Errors as BindInput.
  Status BindFrame(size_t index, const Frame& frame);

  // From the next Submit or Run on, the input is made of a frame in host memory, which each of them reads, and what
  // they are given for it is ignored; null: no longer. False where the CPU reads the input, which takes no frame.
  // Errors as RunsInFlight::SetFrame; then the input takes no frame either. Precondition: a right index.
  Result<bool> SetFrame(size_t index, const Frame* frame);
  // What one run needs of memory for them.
  uint64_t frame_bytes() const { return runs_ != nullptr ? runs_->frame_bytes() : 0; }

  // The bytes that the last finished run copied.
  const TransferCounts& transfers() const { return transfers_; }
  // Kernels compiled for bindings, for runs in flight and for parts of dispatches, beside those of programs().
  int more_programs_compiled() const;

  // The states hold real zeros again, as before the first run.
  Status ResetState();
  // What the states hold after the last run that was submitted, and back, by name, into this plan or that of another
  // device.
  Result<std::vector<StateContent>> ReadStates();
  Status WriteStates(std::span<const StateContent> contents);

  // Takes the entries of the cache that programs were loaded from out of it: something that they led to went wrong.
  // False when there are none.
  bool RejectLoaded(std::string_view reason);

  // After the first result: stores what this start had to make. A plan that is new is also told which constants the
  // cache keeps; one from the cache knows. Once more, with false, where HasMoreToStore: what was made since, for
  // bindings and runs in flight. Returns warnings.
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
  // Lets later runners use what was uploaded.
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
  // Of a plan without host steps: all of a run that is alone, a submission for each stage, the first and the last with
  // the copies from and to staging buffers. Empty where nothing is staged.
  Result<std::vector<std::unique_ptr<Executable>>> PrepareWhole(const std::vector<Stage>& stages);
  // After frames came or went.
  Status RenewWhole();
  // Cuts slices anew where runs turn out to take another time than estimated.
  void NoteRunMs(double milliseconds);
  // `reads`: how often nodes read each value.
  Status PrepareHost(const HostStep& step, const std::vector<int>& reads, bool is_last);
  // Outputs of the network whose memory the last step may write, by value: nothing else needs those values then.
  std::map<ValueId, size_t> OutputsMadeBy(const HostStep& last) const;
  Status SubmitInSlot(size_t slot, std::span<const std::span<const std::byte>> inputs,
                      std::span<const std::span<std::byte>> outputs, const SubmitSync& sync,
                      std::vector<ProfileRow>* profile);
  // Counts what host steps copy.
  Status SubmitStages(std::span<const std::span<const std::byte>> inputs, std::span<const std::span<std::byte>> outputs,
                      std::vector<ProfileRow>* profile, TransferCounts& counts);
  Status Hand(Executable& executable);  // to the device
  // Until all dispatches of the plan that were submitted are finished.
  Status WaitForSubmitted();
  Status CopyHostOutputs(std::span<const std::span<const std::byte>> inputs,
                         std::span<const std::span<std::byte>> outputs) const;
  Status CheckSizes(std::span<const std::span<const std::byte>> inputs,
                    std::span<const std::span<std::byte>> outputs) const;
  Status ProfileDispatches(Stage& stage, std::vector<ProfileRow>& profile);
  Status RunHost(Stage& stage, std::span<const std::span<const std::byte>> inputs,
                 std::span<const std::span<std::byte>> outputs, std::vector<ProfileRow>* profile,
                 TransferCounts& counts);
  // An output that no dispatch makes: a host step's, or one of the network's own inputs or constants.
  // Nothing for a value that is none of these.
  std::span<const std::byte> HostOutput(ValueId value, std::span<const std::span<const std::byte>> inputs) const;
  Status Upload(const HostTransfer& transfer, std::span<const std::byte> dense, TransferCounts& counts);
  Status Download(const HostTransfer& transfer, std::span<std::byte> dense, TransferCounts& counts);
  // Behind the last stage: what states on the host become.
  Status AdvanceHostStates(TransferCounts& counts);
  std::vector<std::byte>& HostValue(ValueId value);
  void NoteHostRead(ValueId value);

  Plan plan_;
  RunnerParts parts_;
  RunnerTimes times_;
  std::vector<std::shared_ptr<Buffer>> buffers_;  // null where constants lie apart
  PlacedConstants constants_;
  LoadedPrograms programs_;
  std::vector<LoadedPrograms> part_programs_;
  std::map<uint32_t, Program*> part_program_;              // by index of the plan's kernel
  std::vector<double> pack_ms_;                            // per constant, of this start
  std::vector<Stage> stages_;                              // after buffers_ and programs_: executables go first
  std::map<ValueId, std::vector<std::byte>> host_values_;  // values that host steps make, or read from the device
  std::map<ValueId, size_t> host_inputs_;                  // those that they read where the caller's lie: which input
  std::map<ValueId, size_t> host_outputs_;                 // those that the last step writes there: which output
  Executable* last_submitted_ = nullptr;                   // one of those; null: nothing is left to wait for
  uint64_t last_submission_ = 0;
  std::vector<uint64_t> submissions_;  // of the last run; a clone's may have numbers between
  SliceClock slice_clock_;
  bool is_ready_ = false;  // Create is done
  bool is_saved_ = false;  // SaveToStore was called
  TransferCounts transfers_;
  std::unique_ptr<RunsInFlight> runs_;              // null without a device; goes before the buffers
  std::vector<std::unique_ptr<Executable>> whole_;  // see PrepareWhole; uses the staging buffers of runs_
  bool whole_is_stale_ = false;                     // frames came or went
};

}  // namespace hearth

#endif  // HEARTH_HAL_PLAN_RUNNER_H_
