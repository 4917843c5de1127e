// Runs of a plan that may be in flight together. Each has a slot with its own memory for inputs and outputs; dispatches
// before and after those of the plan move them to and from the plan's arena. Inputs and outputs that are bound to the
// caller's memory move the same way, without the host. A run that is alone needs none of this: its inputs and outputs
// are copied between the host and the arena.
#ifndef HEARTH_HAL_RUNS_IN_FLIGHT_H_
#define HEARTH_HAL_RUNS_IN_FLIGHT_H_

#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/plan/plan.h"
#include "core/store/result_cache.h"
#include "hal/binding_layout.h"
#include "hal/device.h"
#include "hal/frame_input.h"
#include "hal/load_or_compile.h"
#include "hal/transfers.h"

namespace hearth {

// The slot of a run that is alone. It works in the arena itself, with staging buffers if the device does not share the
// host's memory, and supports neither bindings nor fences. Begin returns kInternal while another slot is in use.
inline constexpr size_t kArenaSlot = SIZE_MAX;

// Used by one thread at a time. Its arguments must outlive it. Its owner numbers the slots.
class RunsInFlight {
 public:
  RunsInFlight(Device& device, const Plan& plan, std::span<const std::shared_ptr<Buffer>> buffers, ResultCache* store,
               int threads)
      : device_(device), plan_(plan), buffers_(buffers), store_(store), threads_(threads) {}

  // Binds from the next Begin on. Compiles a kernel if the format is new. kHost: the input comes from the host again.
  // Precondition: the tensor is on the device.
  Status BindInput(size_t index, const Binding& binding) { return Bind(inputs_, plan_.inputs, index, binding, false); }
  Status BindOutput(size_t index, const Binding& binding) {
    return Bind(outputs_, plan_.outputs, index, binding, true);
  }

  // The same for an input that is made from a frame in device memory. Errors as LayoutOfFrame and Device::ImportBuffer;
  // kResourceExhausted for a buffer that is too large for one binding.
  Status BindFrame(size_t index, const Frame& frame);

  // From the next Begin on the input is made from a frame in host memory, which each Begin reads instead of its
  // argument; null ends that. It holds for all slots; a binding of device memory takes precedence. Returns true if the
  // commands of kArenaSlot have changed, so that recorded ones must not be used again. Errors as FrameInput::Set.
  Result<bool> SetFrame(size_t index, const Frame* frame);
  // The memory that one run needs for them.
  uint64_t frame_bytes() const;

  // Adds the copies of kArenaSlot between its staging buffers and the arena, to be submitted together with the plan's
  // dispatches: see Begin. False if nothing is staged.
  Result<bool> StagesArena();
  void RecordArenaInputs(CommandRecorder& recorder) const;
  void RecordArenaOutputs(CommandRecorder& recorder) const;

  // Uploads unbound inputs and submits their move to the plan's arena. `plan_copies`: the plan's submission moves
  // inputs and outputs itself, so Begin and End submit nothing.
  Status Begin(size_t slot, std::span<const std::span<const std::byte>> inputs, std::span<const SyncPoint> wait_for,
               bool plan_copies = false);
  // Waits until the submission of Begin is finished.
  Status WaitForBegin(size_t slot);
  // Submits the move of outputs from the arena.
  Status End(size_t slot, std::span<const SyncPoint> signal, uint64_t* fence);
  // Waits for End and reads unbound outputs. Afterwards the slot is free, also after an error. Precondition for
  // kArenaSlot: the plan's dispatches are finished.
  Status Finish(size_t slot, std::span<const std::span<std::byte>> outputs);
  // Frees a slot whose Begin or End failed.
  void Abandon(size_t slot);

  // The bytes that the slot's last run copied, in Begin, in Finish and by host steps between them.
  TransferCounts& transfers(size_t slot) { return At(slot).transfers; }

  int programs_compiled() const;
  // Whether programs have run and are not stored. False without a store.
  bool HasMoreToStore() const;
  // Stores them. Programs that have not run wait for a later call, but no other process waits for them any longer.
  // Returns warnings. Precondition: there is a store.
  std::vector<std::string> SaveToStore();

 private:
  struct Endpoint {
    std::unique_ptr<Buffer> lent;   // null: the slot's own memory is used
    std::unique_ptr<Buffer> table;  // of a lent frame
    bool is_ready = false;
    BindingKernel kernel;
    Program* program = nullptr;
  };
  // Inputs or outputs of a slot.
  struct Side {
    std::vector<std::unique_ptr<Buffer>> memory;  // null where bound, and in kArenaSlot where nothing is staged
    std::vector<std::unique_ptr<Buffer>>
        bytes;                           // the device's copy of `memory`, if that is staged and holds 8-bit numbers
    std::vector<BoundRange> on_device;   // the memory that the host writes or reads; without a buffer: none
    std::unique_ptr<Executable> moving;  // between `on_device` and the arena
    uint64_t submission = 0;             // of `moving`, in the slot's run
  };
  struct Slot {
    bool is_busy = false;
    bool is_stale = false;  // made with earlier bindings
    bool moves = false;     // in this run, inputs and outputs move in submissions of their own
    Side inputs, outputs;
    size_t known_programs = 0;  // the size of programs_ when the slot was made: it uses no later ones
    TransferCounts transfers;
  };
  struct BindingProgram {
    KernelSource source;
    LoadedPrograms loaded;
  };

  Status Bind(std::vector<Endpoint>& endpoints, const std::vector<PlanTensor>& tensors, size_t index,
              const Binding& binding, bool is_output);
  void Replace(Endpoint& endpoint, Endpoint next);
  Result<Endpoint> LentFrame(const Frame& frame, const PlanTensor& tensor);
  Status MakeTransfer(Endpoint& endpoint, const PlanTensor& tensor, const Binding* binding, bool is_output);
  bool IsConverted(const PlanTensor& tensor) const { return CrossesAsBytes(tensor.transfer, device_.info()); }
  const FrameInput* FrameOf(size_t k, bool is_output) const {
    return !is_output && k < frames_.size() ? frames_[k].get() : nullptr;
  }
  // Makes memory of this size, staged if the device needs that.
  Status PrepareCrossing(uint64_t size_bytes, size_t k, Side& side);
  void RecordFrame(const PlanTensor& tensor, size_t k, const Side& side, CommandRecorder& recorder) const;
  // Memory and kernel of a tensor whose 8-bit numbers the device converts.
  Status PrepareBytes(Endpoint& endpoint, const PlanTensor& tensor, size_t k, bool is_output, Side& side);
  void RecordBytes(const Endpoint& endpoint, const PlanTensor& tensor, size_t k, bool is_output, const Side& side,
                   CommandRecorder& recorder) const;
  void RecordKernel(const Endpoint& endpoint, const PlanTensor& tensor, const BoundRange& outer, bool is_output,
                    CommandRecorder& recorder) const;
  Result<Program*> ProgramFor(const KernelSource& source);
  // A kernel that `make` makes for the device, and its program.
  using MakeKernel = std::function<Result<BindingKernel>(const DeviceInfo& device)>;
  Status MakeKernelAndProgram(const MakeKernel& make, BindingKernel& kernel, Program*& program);
  Slot& At(size_t slot) { return slot == kArenaSlot ? arena_slot_ : slots_[slot]; }
  BoundRange InArena(const PlanTensor& tensor) const;
  Status PrepareArenaSlot();
  Status PrepareArenaSide(const std::vector<PlanTensor>& tensors, bool is_output, Side& side,
                          std::vector<Endpoint>& endpoints);
  Status PrepareArenaMoving();
  // Null if the device shares the host's memory or stages copies itself.
  Result<std::unique_ptr<Buffer>> Staging(uint64_t size_bytes);
  void RecordCopies(const std::vector<PlanTensor>& tensors, bool is_output, const Side& side,
                    const std::vector<Endpoint>& endpoints, CommandRecorder& recorder) const;
  Status PrepareSlot(Slot& slot);
  Status PrepareSide(std::vector<Endpoint>& endpoints, const std::vector<PlanTensor>& tensors, bool is_output,
                     Side& side);
  void DropStale();

  Device& device_;
  const Plan& plan_;
  std::span<const std::shared_ptr<Buffer>> buffers_;
  ResultCache* store_;
  int threads_;
  std::deque<BindingProgram> programs_;
  size_t programs_that_ran_ = 0;            // this many of programs_, from the first
  bool is_saved_ = false;                   // SaveToStore was called
  std::vector<Endpoint> inputs_, outputs_;  // by index, made when first needed
  std::vector<std::unique_ptr<FrameInput>> frames_;
  std::vector<Program*> frame_programs_;
  std::vector<std::unique_ptr<Buffer>> retired_;  // bound before, still used by a slot
  Slot arena_slot_;
  std::vector<Endpoint> arena_inputs_,
      arena_outputs_;  // only of tensors that are converted: the others need no kernel there
  bool arena_is_prepared_ = false, arena_is_staged_ = false;
  bool device_stages_ = true;  // until a Staging call says otherwise
  std::deque<Slot> slots_;     // destroyed before the memory that they use
};

}  // namespace hearth

#endif  // HEARTH_HAL_RUNS_IN_FLIGHT_H_
