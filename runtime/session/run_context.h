// The runs of a prepared model: inputs, outputs, states, and the slots of runs in flight.
#ifndef HEARTH_RUNTIME_SESSION_RUN_CONTEXT_H_
#define HEARTH_RUNTIME_SESSION_RUN_CONTEXT_H_

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "hal/io/external_frame.h"
#include "hal/io/frame_layout.h"
#include "hal/run/plan_runs.h"
#include "runtime/session/early_save.h"
#include "runtime/session/prepared.h"

namespace hearth {

using InputSpans = std::vector<std::span<const std::byte>>;
using OutputSpans = std::vector<std::span<std::byte>>;

struct InputState {
  Endpoint endpoint;
  bool is_set = false;           // SetInput was called
  std::vector<std::byte> bytes;  // set, or made from borrowed host memory or a frame
};
struct OutputState {
  Endpoint endpoint;
  std::vector<std::byte> bytes;
  // The program's own memory (PlanRuns::OutputMemory) if the caller sees that, so that the output exists only once.
  // Empty: the caller sees `bytes`.
  std::span<std::byte> in_program;
};

// An input of a run in flight, copied because the run may have to be repeated on another device: its bytes, what it
// depends on of a frame, or a frame that the device reads itself. Nothing: it can't be repeated.
using RetainedInput = std::variant<std::monostate, std::vector<std::byte>, KeptFrame, std::shared_ptr<ExternalFrame>>;

// A submitted run that has not been waited for.
struct RunSlot {
  uint64_t number = 0;                // 0: free
  bool is_done = false;               // repeated on another device: the outputs are complete
  std::vector<RetainedInput> inputs;  // empty if nothing is retained
  std::vector<std::vector<std::byte>> outputs;
  double submitted_at_ms = 0;

  bool is_in_flight() const { return number != 0 && !is_done; }
};

// What the caller has set and may still ask for. It goes along to another device.
struct CallerState {
  std::vector<InputState> inputs;
  std::vector<OutputState> outputs;
  std::vector<RunSlot> slots;  // one per run that may be in flight
  uint64_t submit_count = 0;
  std::vector<StateContent> retained_states;  // see RetainStates; empty: zeros
  int runs_since_retained = 0;                // finished ones
  bool shows_run = false;                     // the outputs are those of a run with these shapes
};

// Whether an endpoint is in the memory of a device.
bool IsInDeviceMemory(const Endpoint& endpoint);
// The frame's memory if several drivers share it; null for other endpoints.
std::shared_ptr<ExternalFrame> ExternalOf(const Endpoint& endpoint);

// Adds a warning about an input unless there is one: frames of a moving camera differ in numbers of the text.
void WarnOnce(const TensorInfo& input, std::string_view text, std::vector<std::string>& warnings);

// For one thread at a time.
class RunContext {
 public:
  RunContext(PreparedRuns made, int max_in_flight);

  const Prepared& prepared() const { return *made_.prepared; }
  const Model& model() const { return made_.prepared->model(); }
  // False once the device was lost and closed; then only the caller's state is left.
  bool has_device() const { return made_.runs != nullptr; }
  // Precondition of all that follows, unless it says otherwise: has_device().
  PlanRuns& runs() { return *made_.runs; }
  const Plan& plan() const { return made_.prepared->plan(); }

  // ---- Inputs and outputs ----

  CallerState& caller() { return caller_; }  // also without a device
  const CallerState& caller() const { return caller_; }
  // Reads the input from there, or writes the output there, from now on. Errors as PlanRuns::Bind, LayoutOf and
  // LayoutOfFrame; then nothing has changed, but for a frame in host memory that the device does not take.
  Status Bind(Side side, size_t index, const Endpoint& endpoint);
  // Also without a device.
  std::span<const std::byte> output(size_t index) const;
  // Copies the outputs that the caller sees out of the program's memory, before that is written or goes. Also without a
  // device.
  void KeepVisibleOutputs();

  // ---- Frames ----

  // Before a run: lets the device make inputs from frames in host memory, or makes them here if it can't. `fits` says
  // whether the memory of runs (run_bytes) is within its limit. The first such reason of an input is a warning.
  Status PlaceFrames(const std::function<Status()>& fits, std::vector<std::string>& warnings);
  // The same for one input, without making it here: whether the device makes it.
  Result<bool> PlaceFrame(size_t index, const std::function<Status()>& fits, std::vector<std::string>& warnings);
  // Makes the next run ignore frames.
  Status DropFrames();
  // Lets the host read the frames that a lost device had imported: for the runs in flight, which get their inputs, and
  // from now on. `are_begun`: the host may read the frames of the run that begins. An error if it can't.
  Status HandFramesToHost(bool are_begun, std::chrono::milliseconds limit);

  // ---- Runs ----

  Status CheckInputsAreSet() const;
  // Whether a run needs memory of its own: another is in flight, or something is bound to a device's memory.
  bool NeedsSlot() const;
  // Converts borrowed host memory, before and after a run.
  Status ReadBorrowedMemory();
  Status WriteBorrowedMemory();
  // The memory of the next run that is alone; from now on the caller sees its outputs there.
  InputSpans OwnInputs() const;
  OutputSpans OwnOutputs();
  Result<size_t> FreeSlot() const;
  // The outputs of a slot, which is given memory.
  OutputSpans OutputsOf(RunSlot& slot) const;
  // Retains the inputs of the run in `slot`, for RepeatRuns. `as_inputs`: frames as the inputs that they become, which
  // are no larger than what a memory limit counts; else as they are, since the device was to spare the CPU that.
  Status RetainInputs(RunSlot& slot, bool as_inputs);
  // The memory of frames on the device, and of runs in flight: inputs and outputs there, and copies of outputs here.
  uint64_t run_bytes() const;
  uint64_t frame_bytes() const;  // the first part of that
  // Notes that a run has finished.
  void NoteRun() { has_run_ = true; }
  // Stores what preparing has made, in the background, unless that was done or begun.
  void SaveSoon();
  bool has_run() const { return has_run_; }

  // ---- States, other devices ----

  // After a run, if the device may be lost in the next one: copies the states to the host.
  Status RetainStates();
  // Whether states, runs in flight and bindings allow continuing on another device.
  bool CanLeaveItsDevice() const;
  // Closes the device, which no other context uses; the caller's state stays.
  void CloseDevice();
  // Takes over the caller's state from a context of the same model and shapes, and `states`. On an error nothing has
  // changed. Runs in flight that are not done must be repeated (RepeatRuns).
  Status TakeOver(RunContext& before, std::span<const StateContent> states);
  // Repeats submitted runs that nobody has waited for, in order.
  Status RepeatRuns();
  // On the CPU, where Submit has computed them: fetches the outputs of all runs in flight.
  Status FinishRunsInFlight();

  // ---- The cache ----

  // Stores what preparing and runs have made, if a run has finished. Returns warnings. Also without a device.
  std::vector<std::string> Store();

 private:
  const TensorDesc& DescOf(Side side, size_t index) const;
  // Makes the inputs of retained frames.
  void MakeRetainedInputs(RunSlot& slot) const;
  bool MayStore() const;
  uint64_t slots_with_memory() const;

  PreparedRuns made_;
  CallerState caller_;
  bool has_run_ = false, is_stored_ = false;
  std::unique_ptr<EarlySave> early_save_;  // last: it uses the rest
};

}  // namespace hearth

#endif  // HEARTH_RUNTIME_SESSION_RUN_CONTEXT_H_
