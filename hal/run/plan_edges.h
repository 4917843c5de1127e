// The inputs and outputs of a plan: how each crosses between the host, or the caller's memory, and the plan's arena.
#ifndef HEARTH_HAL_RUN_PLAN_EDGES_H_
#define HEARTH_HAL_RUN_PLAN_EDGES_H_

#include <array>
#include <memory>
#include <span>
#include <variant>
#include <vector>

#include "hal/device/device.h"
#include "hal/io/binding_layout.h"
#include "hal/io/external_frame.h"
#include "hal/io/transfers.h"
#include "hal/programs/more_programs.h"
#include "hal/run/loaded_plan.h"

namespace hearth {

// A run that is alone works in the arena itself. Runs in flight have memory of their own, which dispatches before and
// after those of the plan copy to and from the arena.
enum class SlotKind : uint8_t { kAlone, kInFlight };

// How an input or output of a slot crosses, and its memory.
struct Crossing {
  enum class Way : uint8_t {
    kNone,      // not here: no dispatch uses it
    kArena,     // the host works in the arena
    kCopied,    // through a buffer that a dispatch copies
    kStaged,    // through a staging buffer
    kDense,     // dense numbers, which a dispatch converts
    kFrame,     // a picture, which a dispatch converts
    kBorrowed,  // the caller's memory, which a dispatch converts
  };
  Way way = Way::kNone;
  BoundRange visible;                 // what the host writes or reads; without a buffer: nothing
  std::unique_ptr<Buffer> memory;     // has that; null where that is the arena, or nothing
  std::unique_ptr<Buffer> on_device;  // the device's copy of staged `memory`, if a dispatch converts it
};
using Crossings = std::vector<Crossing>;  // by input or output

// For one thread at a time. Its arguments must outlive it.
class PlanEdges {
 public:
  PlanEdges(const LoadedPlan& plan, MorePrograms& programs);

  // What changed with a new endpoint.
  struct Change {
    bool in_flight = false, alone = false;         // commands and memory of slots
    std::vector<std::shared_ptr<Buffer>> retired;  // borrowed before; slots may still use it
  };
  // For runs that are prepared from now on. Borrowed memory and imported frames are only for runs in flight, which
  // compile a kernel if the format is new. A frame in host memory is read by each Upload. Errors as LayoutOf,
  // LayoutOfFrame and Device::ImportBuffer; kResourceExhausted for a picture that is too large for one binding of the
  // device. After an error the endpoint stays. Precondition: the tensor is on the device.
  Result<Change> Bind(Side side, size_t index, const Endpoint& endpoint);
  // The memory that one run needs for frames.
  uint64_t frame_bytes() const;

  // Makes the memory of a slot.
  Result<Crossings> Prepare(Side side, SlotKind kind);
  // Records the copies and dispatches between it and the arena.
  void Record(Side side, const Crossings& crossings, CommandRecorder& recorder) const;
  Status Upload(const Crossings& crossings, std::span<const std::span<const std::byte>> inputs,
                TransferCounts& counts) const;
  Status Download(const Crossings& crossings, std::span<const std::span<std::byte>> outputs,
                  TransferCounts& counts) const;

 private:
  struct EdgeKernel {
    BindingKernel kernel;
    Program* program = nullptr;  // null: not made yet
  };
  struct Borrowed {
    std::shared_ptr<Buffer> buffer;
    std::unique_ptr<Buffer> table;  // a frame's
    EdgeKernel kernel;
  };
  struct Framed {
    std::unique_ptr<FrameInput> input = std::make_unique<FrameInput>();
    Program* program = nullptr;
  };
  struct Edge {
    const PlanTensor* tensor = nullptr;
    EdgeKernel own;  // copies or converts the slot's memory
    std::variant<GivenBytes, Borrowed, Framed> bound;
  };

  Device& device() const { return plan_.device(); }
  std::vector<Edge>& EdgesOf(Side side) { return edges_[static_cast<size_t>(side)]; }
  const std::vector<Edge>& EdgesOf(Side side) const { return edges_[static_cast<size_t>(side)]; }
  bool IsConverted(const Edge& edge) const { return CrossesDense(edge.tensor->transfer, device().info()); }
  BoundRange InArena(const Edge& edge) const { return plan_.Located(edge.tensor->transfer.range); }
  Result<Borrowed> Borrow(Side side, const Edge& edge, const Binding& binding);
  Result<Borrowed> Import(const Edge& edge, const Frame& frame);
  // Sets the next frame. True if its memory or kernel changed.
  Result<bool> SetFrame(const Edge& edge, const Frame& frame, Framed& framed);
  Status MakeOwnKernel(Side side, Edge& edge);
  // Null if the device shares the host's memory or stages copies itself.
  Result<std::unique_ptr<Buffer>> Staging(uint64_t size_bytes);
  Result<Crossing> PrepareOne(Side side, SlotKind kind, Edge& edge);
  // Memory of this size that a dispatch reads or writes, staged if the device needs that.
  Result<Crossing> Converted(Crossing::Way way, uint64_t size_bytes);
  void RecordKernel(Side side, const Edge& edge, const EdgeKernel& kernel, std::vector<BoundRange> outer,
                    CommandRecorder& recorder) const;
  void RecordConverted(Side side, const Edge& edge, const Crossing& crossing, CommandRecorder& recorder) const;

  const LoadedPlan& plan_;
  MorePrograms& programs_;
  std::array<std::vector<Edge>, 2> edges_;
  bool device_stages_ = true;  // until a Staging call says otherwise
};

}  // namespace hearth

#endif  // HEARTH_HAL_RUN_PLAN_EDGES_H_
