// Runs of a loaded plan: their inputs and outputs, their states, and the slots of those in flight.
#ifndef HEARTH_HAL_RUN_PLAN_RUNS_H_
#define HEARTH_HAL_RUN_PLAN_RUNS_H_

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hal/device/native.h"
#include "hal/io/external_frame.h"
#include "hal/programs/more_programs.h"
#include "hal/run/device_segments.h"
#include "hal/run/host_segments.h"
#include "hal/run/loaded_plan.h"
#include "hal/run/plan_edges.h"
#include "hal/run/run_slots.h"
#include "hal/run/slicing.h"

namespace hearth {

// A state's elements, dense.
struct StateContent {
  std::string name;
  std::vector<std::byte> bytes;
};

// What a run may be given beside its memory. All may be left out.
struct RunOptions {
  SubmitSync sync = {};
  std::vector<ProfileRow>* profile = nullptr;  // the run is profiled, and its rows are added
  RunControl* control = nullptr;               // what may end it early
};

// For one thread at a time, any thread. The plan must outlive it.
class PlanRuns {
 public:
  // Prepares what the plan's device runs.
  static Result<std::unique_ptr<PlanRuns>> Create(LoadedPlan& plan);

  // Runs once, which also advances the states. `inputs` and `outputs` are in the plan's order; sizes must be those of
  // the tensors. Submit and Finish of a run that is alone; waits until the device is done with the runs in flight.
  Status Run(std::span<const std::span<const std::byte>> inputs, std::span<const std::span<std::byte>> outputs,
             const RunOptions& options = {});

  // Runs only the dispatches, for measuring, with the inputs of an earlier Run. Precondition: nothing of the plan runs
  // on the CPU.
  Status RunDispatches();

  // A run in two halves: Submit returns when everything is submitted to the device, and Finish fetches the outputs.
  // Each slot in use has its own memory for inputs and outputs; states change in the order of Submit. Segments on the
  // CPU run inside Submit, which waits for their inputs. Submit already writes outputs that no dispatch makes. A slot
  // whose Submit failed needs no Finish. A profiled run is finished, dispatch by dispatch, when Submit returns.
  Status Submit(SlotId slot, std::span<const std::span<const std::byte>> inputs,
                std::span<const std::span<std::byte>> outputs, const RunOptions& options = {});
  Status Finish(SlotId slot, std::span<const std::span<std::byte>> outputs);

  // From the next run on, the tensor's bytes come from there or go there, and the argument of Submit and Finish for it
  // is ignored. Borrowed memory of the host counts as given bytes. Run ignores other borrowed memory and imported
  // frames. kUnsupported for an endpoint that is not given bytes, if the CPU reads or makes the tensor; other errors as
  // PlanEdges::Bind. After an error of a frame in host memory the input takes given bytes, else the endpoint stays.
  // Precondition: a valid index.
  Status Bind(Side side, size_t index, const Endpoint& endpoint);
  // Whether only the device reads the input, or makes the output.
  bool IsOnDeviceOnly(Side side, size_t index) const;
  // The memory that one run needs for frames in host memory.
  uint64_t frame_bytes() const { return edges_.frame_bytes(); }

  // The runner's own memory of an output, if the CPU makes it last and in its final form: a Run that is given this
  // memory does not copy the output. It is zero before the first run. Empty if there is none.
  std::span<std::byte> OutputMemory(size_t index) const { return host_.OutputMemory(index); }

  // The bytes that the last finished run copied.
  const TransferCounts& transfers() const { return transfers_; }
  // Programs beside the plan's own.
  const MorePrograms& more_programs() const { return programs_; }

  // Resets the states to real zeros, as before the first run.
  Status ResetState();
  // Reads the states after the last submitted run, and writes them, by name, into this plan or another device's.
  Result<std::vector<StateContent>> ReadStates();
  Status WriteStates(std::span<const StateContent> contents);

  // Rejects the cache entries that programs were loaded from, because a run with them failed. False if there are none.
  bool RejectLoaded(std::string_view reason);
  // After the first result: stores what the start had to make (LoadedPlan::Store). If HasMoreToStore, StoreMore stores
  // what was made since. Both return warnings. Precondition: there is a store.
  std::vector<std::string> Store(bool plan_is_new);
  std::vector<std::string> StoreMore() { return programs_.Store(plan_.request().stop); }
  bool HasMoreToStore() const { return programs_.HasMoreToStore(); }

 private:
  explicit PlanRuns(LoadedPlan& plan);
  Status CheckSizes(std::span<const std::span<const std::byte>> inputs,
                    std::span<const std::span<std::byte>> outputs) const;
  Status SubmitAll(SlotId slot, SegmentRun& run, const SubmitSync& sync);
  Status RunSegments(SegmentRun& run);

  LoadedPlan& plan_;
  MorePrograms programs_;
  PlanEdges edges_;
  RunSlots slots_;
  DeviceSegments device_;
  HostSegments host_;
  Slicing slicing_;
  TransferCounts transfers_;
};

// A plan that is ready to run. The runs go before the plan.
struct ReadyPlan {
  ReadyPlan() = default;
  ReadyPlan(ReadyPlan&&) = default;
  ReadyPlan& operator=(ReadyPlan&& other) noexcept {
    std::swap(loaded, other.loaded);
    std::swap(runs, other.runs);
    return *this;
  }
  const Plan& plan() const { return loaded->plan(); }

  std::unique_ptr<LoadedPlan> loaded;
  std::unique_ptr<PlanRuns> runs;
};

// Loads a plan and prepares its runs.
Result<ReadyPlan> MakePlanReady(Plan plan, LoadRequest request);

}  // namespace hearth

#endif  // HEARTH_HAL_RUN_PLAN_RUNS_H_
