// Lowering functions add kernel calls by name and operands by value to a PlanBuilder. It fuses and places values, and
// lays out memory at the end.
#ifndef HEARTH_CORE_PLAN_PLAN_BUILDER_H_
#define HEARTH_CORE_PLAN_PLAN_BUILDER_H_

#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/graph/strided_view.h"
#include "core/plan/call_instance.h"
#include "core/plan/kernel_call.h"
#include "core/plan/plan.h"
#include "core/plan/plan_constants.h"
#include "core/plan/plan_layout.h"
#include "core/plan/plan_values.h"

namespace hearth {

class PlanBuilder;
// A call of map.kernel that writes all texels of `to`: those of `from`, unless the caller adds a function of them.
KernelCall MapCall(PlanBuilder& builder, ValueId from, ValueId to);

class PlanBuilder : public PlanValues {
 public:
  PlanBuilder(const Graph& graph, const DeviceInfo& device, const LowerOptions& options);

  // A value as kernels see it: slices in the arena, or a constant packed into slices.
  Operand Tensor(ValueId value);
  // A constant in a kernel's own layout; equal (value, recipe) pairs share memory.
  Operand Packed(ValueId constant, PackRecipe recipe) { return constants_.Packed(constant, std::move(recipe)); }
  // `count` zeros, padded to a multiple of `width`: the bias of a node without one.
  Operand Zeros(int32_t count, int32_t width) { return constants_.Zeros(count, width); }

  // The kernel for `node`: the one that tuning found, else the first candidate of its operation.
  KernelChoice Choose(const Node& node) const;

  // Appends a dispatch. kResourceExhausted when the device can't take its size.
  Status Call(const Node& node, const KernelCall& call);
  // Whether the dispatch that makes `value` can also run an elementwise node that additionally reads `others`: nothing
  // else reads `value`, and `others` exist when that dispatch runs.
  bool CanExtend(ValueId value, std::span<const ValueId> others) const;
  // A suffix that makes the names of the next epilogue step of the dispatch that makes `value` unique.
  std::string StepSuffix(ValueId value) const;
  // Makes that dispatch write `output` instead. Returns false and changes nothing if the device can't take so many
  // arguments.
  bool Extend(const Node& node, ValueId value, ValueId output, const std::vector<EpilogueStep>& steps);
  // Makes `output` another name of `input`, without a copy, unless `input` is state, which changes at the end of the
  // run. Precondition: equal numbers of channels and pixels.
  Status Alias(const Node& node, ValueId output, ValueId input);
  // Makes `output` a view of the texels of `input` from `first` on. Returns false and changes nothing if that is
  // impossible.
  bool AliasPart(ValueId output, ValueId input, int64_t first);
  // Makes `part`, which exists already, the texels of `whole` from `first` on, so that its producer writes it there.
  // Returns false and changes nothing if that is impossible.
  bool PlaceWithin(ValueId part, ValueId whole, int64_t first);
  // `output` consists of elements of `deferred.source`, which `deferred.call` copies: not now, but before the first
  // dispatch or step that reads `output` itself. Readers that can use the source directly cause no copy.
  struct Deferred {
    ValueId source = kNoValue;  // neither constant nor deferred
    StridedView view;           // of the source's elements
    // The source, and values between it and the output, have no other readers.
    bool is_only_reader = false;
    KernelCall call;
    const Node* node = nullptr;
  };
  Status Defer(ValueId output, Deferred deferred);
  // Null for a value that is not deferred.
  const Deferred* DeferredAt(ValueId value) const;
  // Copies a deferred value.
  void MakeDeferred(ValueId value);
  // The call that makes `value`, if it can store the same elements at other positions; else null.
  const KernelCall* RelocatableMakerOf(ValueId value) const;
  // Makes that call write `output` instead, with these scalars replacing its own. Returns false and changes nothing if
  // the device can't.
  bool Relocate(const Node& node, ValueId value, ValueId output, std::span<const NamedScalar> scalars);
  // Appends nodes for the CPU; consecutive ones become one segment.
  void CallHost(int node_index);

  // Lays out memory and returns the plan. Call once.
  Result<Plan> Finish();

 private:
  // The dispatch that makes only `value` and all of it, if elementwise nodes may become part of it; else null.
  const CallInstance* ExtensibleProducerOf(ValueId value) const;
  void Push(CallInstance instance);
  // Makes the dispatch at `index` write `output` instead of `value`, with another call of the same size.
  bool Replace(size_t index, const Node& node, ValueId value, ValueId output, KernelCall call);
  // Adds dispatches that copy the states' next content, after everything that reads the states.
  Status CopyStates();

  PlanConstants constants_;
  CallInstances instances_;
  ValuePlaces places_;
  std::map<ValueId, size_t> made_at_;  // by root: the index in steps_ of the last writer
  std::map<ValueId, Deferred> deferred_;
  std::vector<PlanStep> steps_;
};

}  // namespace hearth

#endif  // HEARTH_CORE_PLAN_PLAN_BUILDER_H_
