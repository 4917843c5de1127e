// The last stage of planning: memory for every value, constant and state, and the segments with their transfers.
#ifndef HEARTH_CORE_PLAN_PLAN_LAYOUT_H_
#define HEARTH_CORE_PLAN_PLAN_LAYOUT_H_

#include <cstdint>
#include <map>
#include <set>
#include <variant>
#include <vector>

#include "core/plan/call_instance.h"
#include "core/plan/plan.h"
#include "core/plan/plan_constants.h"
#include "core/plan/plan_values.h"

namespace hearth {

// Which values lie in the device's memory, and which within other values.
class ValuePlaces {
 public:
  void PutOnDevice(ValueId value) { on_device_.insert(Root(value)); }
  void TakeOff(ValueId value) { on_device_.erase(value); }
  bool OnDevice(ValueId value) const { return on_device_.contains(Root(value)); }

  // Makes `value` a part of `of`, from `offset_bytes` on.
  void PutWithin(ValueId value, ValueId of, uint64_t offset_bytes) { within_[value] = {of, offset_bytes}; }
  bool IsWithin(ValueId value) const { return within_.contains(value); }
  // The value that it lies in at last, maybe itself; and where.
  ValueId Root(ValueId value) const;
  uint64_t OffsetInRoot(ValueId value) const;

 private:
  struct Place {
    ValueId of = kNoValue;
    uint64_t offset_bytes = 0;
  };
  std::set<ValueId> on_device_;  // roots
  std::map<ValueId, Place> within_;
};

// A dispatch, or nodes for the CPU (indices into graph.nodes()).
using PlanStep = std::variant<CallInstance, std::vector<int>>;

class PlanLayout {
 public:
  PlanLayout(const PlanValues& values, const ValuePlaces& places, PlanConstants& constants)
      : values_(values), places_(places), constants_(constants) {}

  // Call once. Each item of `steps` with nodes becomes a segment; dispatches without nodes between them are one.
  Result<Plan> Finish(std::vector<PlanStep> steps);

 private:
  struct Lifetime {
    int first = 0, last = 0;
  };
  std::map<ValueId, Lifetime> Lifetimes(std::span<const PlanStep> steps) const;
  Status PlaceArena(std::span<const PlanStep> steps);
  Status PlaceStates();
  BufferRange RangeOf(ValueId value) const;
  HostTransfer TransferOf(ValueId value) const;
  uint32_t KernelIndex(KernelSource source);
  void AddDispatch(CallInstance instance);
  void AddHostSegment(const std::vector<int>& nodes);
  PlanTensor TensorOf(ValueId value) const;
  // States that something reads.
  void AddStates();

  const PlanValues& values_;
  const ValuePlaces& places_;
  PlanConstants& constants_;
  Plan plan_;
  std::map<ValueId, BufferRange> ranges_;  // by root
};

}  // namespace hearth

#endif  // HEARTH_CORE_PLAN_PLAN_LAYOUT_H_
