// Lowering functions add kernel calls by name and operands by value to a PlanBuilder. It picks access paths, merges
// equal kernels and constants, and lays out memory at the end.
#ifndef HEARTH_CORE_PLAN_PLAN_BUILDER_H_
#define HEARTH_CORE_PLAN_PLAN_BUILDER_H_

#include <array>
#include <bit>
#include <deque>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/device/device_info.h"
#include "core/device/options.h"
#include "core/emit/kernel_names.h"
#include "core/graph/graph.h"
#include "core/graph/ops/strided_view.h"
#include "core/plan/plan.h"

namespace hearth {

// A tensor argument of a call: a value in the arena or a packed constant.
struct Operand {
  enum class Kind : uint8_t { kValue, kConstant };
  Kind kind = Kind::kValue;
  int32_t id = 0;  // a ValueId, or an index into the plan's constants
};

struct Scalar {
  // Implicit, so that an argument list reads {{"M", rows}, {"BETA", beta}}.
  Scalar(int32_t number) : bits(std::bit_cast<uint32_t>(number)) {}  // NOLINT(google-explicit-constructor)
  // NOLINTNEXTLINE(google-explicit-constructor)
  Scalar(float number) : type(ScalarType::kFloat), bits(std::bit_cast<uint32_t>(number)) {}

  ScalarType type = ScalarType::kInt;
  uint32_t bits = 0;
};

// One step of an epilogue. The statement's arguments are these in order, tensors first.
struct EpilogueStep {
  EpilogueStatement statement;
  std::vector<std::pair<std::string, Operand>> tensors;  // read by the statement
  std::vector<std::pair<std::string, Scalar>> scalars;
};

// Arguments of a call, by the names that the .kernel file gives them.
struct NamedOperand {
  TensorName name;
  Operand operand;
};
struct NamedScalar {
  ScalarName name;
  Scalar scalar;
};
template <typename Kernel>
struct OperandOf {
  NameIn<Kernel::kTensors> name;
  Operand operand;
};
struct NamedDefine {
  DefineName name;
  std::string value;
};

struct KernelCall {
  KernelName kernel;
  // The kernel stores every texel of its result once, so elementwise nodes after it may become part of the store.
  bool stores_each_texel_once = false;
  std::vector<NamedDefine> defines;  // override the kernel's defaults
  std::vector<NamedOperand> tensors;
  std::vector<NamedScalar> scalars;
  std::vector<EpilogueStep> epilogue;
  std::array<int64_t, 3> work_items = {1, 1, 1};      // rounded up to the local size
  std::optional<std::array<uint32_t, 3>> local_size;  // overrides the kernel's
  std::optional<uint32_t> local_texels;               // of local memory, overrides the kernel's
  bool local_by_item = false;            // the arrays there have an element for each item: a small group needs no more
  std::vector<TensorName> buffer_reads;  // arguments that the call also writes, so not read through texels
};

// The tensors of a kernel (a type of kernel_constants.h), all named in one place. Another kernel's names, and a wrong
// number of them, do not compile.
template <typename Kernel, size_t kCount>
std::vector<NamedOperand> TensorsOf(const OperandOf<Kernel> (&tensors)[kCount]) {
  static_assert(kCount == Kernel::kTensors.size());
  std::vector<NamedOperand> named;
  for (const OperandOf<Kernel>& tensor : tensors) named.push_back({TensorName(tensor.name), tensor.operand});
  return named;
}

// A call of map.kernel that writes all texels of `out`; the caller adds its tensors.
KernelCall MapCall(const Bhwc& out);

class PlanBuilder;
// Copies texels unchanged; both values have the same number of them.
KernelCall TexelCopyCall(PlanBuilder& builder, ValueId from, ValueId to);

class PlanBuilder {
 public:
  PlanBuilder(const Graph& graph, const DeviceInfo& device, const LowerOptions& options);

  const Graph& graph() const { return graph_; }
  const DeviceInfo& device() const { return device_; }
  // Describes a value of the graph, or a scratch value.
  const TensorDesc& DescOf(ValueId value) const;
  // See index_values.h.
  bool DecidesIndices(ValueId value) const { return !IsScratch(value) && decides_indices_[value]; }
  Bhwc ShapeOf(ValueId value) const { return ToBhwc(DescOf(value).shape); }
  // Whether both have the same storage and grid, so that moving elements between them changes none.
  bool HoldAlike(ValueId a, ValueId b) const {
    return StorageOf(a) == StorageOf(b) && DescOf(a).quantization == DescOf(b).quantization;
  }

  // Whether the value's real numbers are stored as float16.
  bool IsHalf(ValueId value) const { return StorageOf(value) == StorageType::kFloat16; }

  // Scratch memory between the dispatches of one node: a value that only the builder knows.
  ValueId Scratch(TensorDesc desc);

  // A value as kernels see it: slices in the arena, or a constant packed into slices.
  Operand Tensor(ValueId value);
  // A constant in a kernel's own layout; equal (value, recipe) pairs share memory.
  Operand Packed(ValueId constant, PackRecipe recipe);
  // `count` zeros, padded to a multiple of `width`: the bias of a node without one.
  Operand Zeros(int32_t count, int32_t width);

  const LowerOptions& options() const { return options_; }
  // The kernel for `node`: the one that tuning found, else the first candidate of its operation.
  KernelChoice Choose(const Node& node) const;

  // Appends a dispatch. kResourceExhausted when the device can't take its size.
  Status Call(const Node& node, const KernelCall& call);
  // One node reads the value, once, and it is neither an output nor a state's next content.
  bool IsReadOnce(ValueId value) const { return !IsScratch(value) && reads_[value] == 1 && !graph_.IsKept(value); }
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
  // Appends nodes for the host; consecutive ones become one step.
  void CallHost(int node_index);

  // Lays out memory and returns the plan. Call once.
  Result<Plan> Finish();

 private:
  // A dispatch whose tensors have no memory yet.
  struct PendingDispatch {
    Dispatch dispatch;
    KernelCall call;
    KernelSource source;
    std::vector<Operand> operands;
  };
  struct PendingHost {
    std::vector<int> nodes;
  };
  struct Lifetime {
    int first = 0, last = 0;
  };

  ValueId Root(ValueId value) const;
  // The range of `value` within that of its root.
  BufferRange RangeOf(ValueId value, const std::map<ValueId, BufferRange>& ranges) const;
  // The constant of this value and recipe; adds it with `inline_bytes` if it is new. kNoValue: zeros.
  Operand ConstantOperand(ValueId value, PlanConstant constant, std::span<const std::byte> inline_bytes);
  // The dispatch that makes only `value` and all of it, if elementwise nodes may become part of it; else null.
  const PendingDispatch* ExtensibleProducerOf(ValueId value) const;
  // Makes a dispatch from a call, and checks it against the device's limits.
  Result<PendingDispatch> Pending(const Node& node, const KernelCall& call) const;
  void Push(PendingDispatch pending);
  // Makes the dispatch at `index` write `output` instead of `value`, with another call of the same size.
  bool Replace(size_t index, const Node& node, ValueId value, ValueId output, KernelCall call);
  // Whether the device takes a dispatch of this size.
  Status CheckFits(const KernelSource& source, std::span<const Operand> operands,
                   const std::array<uint64_t, 3>& groups) const;
  Result<KernelSource> Instantiate(const KernelCall& call, std::vector<Operand>& operands,
                                   std::vector<uint32_t>& scalars) const;
  // Lets a kernel multiply in 16 bits if it can and precision and device ask for it.
  Status SetArithmetic(KernelSource& source, std::span<const Operand> operands,
                       std::span<const uint32_t> scalars) const;
  // Whether no sum of this many products of the kernel's tensors can leave 16 bits.
  bool FitsHalfSums(const KernelSource& source, std::span<const Operand> operands, int products) const;
  float LargestMagnitudeOf(const Operand& operand) const;
  StorageType StorageOf(ValueId value) const;
  StorageType StorageOf(const Operand& operand) const;
  std::vector<EpilogueStep> RoundingToGrid(const KernelSource& source, const std::vector<Operand>& operands) const;
  uint64_t OperandBytes(const Operand& operand) const;
  uint64_t ValueBytes(ValueId value) const;
  uint32_t KernelIndex(KernelSource source);
  // Adds dispatches that copy the states' next content, after everything that reads the states.
  Status CopyStates();
  // The bytes that a tensor of `size_bytes` takes in its buffer; see texel_view.h.
  uint64_t PlacedBytes(uint64_t size_bytes) const;
  std::map<ValueId, Lifetime> Lifetimes() const;
  Status PlaceArena(Plan& plan, std::map<ValueId, BufferRange>& ranges) const;
  Status PlaceStates(Plan& plan, std::map<ValueId, BufferRange>& ranges) const;
  Status PlaceConstants(Plan& plan) const;
  // The plan's states that something reads.
  std::vector<PlanState> FinishStates(const std::map<ValueId, BufferRange>& ranges) const;
  HostTransfer TransferOf(ValueId value, const std::map<ValueId, BufferRange>& ranges) const;
  HostStep FinishHostStep(const PendingHost& pending, const std::map<ValueId, BufferRange>& ranges) const;
  bool IsScratch(ValueId value) const { return static_cast<size_t>(value) >= graph_.values().size(); }
  bool OnDevice(ValueId value) const { return device_values_.contains(Root(value)); }

  const Graph& graph_;
  const DeviceInfo& device_;
  const LowerOptions options_;
  AccessPath read_path_;
  StorageType real_storage_;
  std::vector<bool> decides_indices_;  // by value; see index_values.h
  std::vector<bool> needs_32_bits_;    // by value: integers and what may exceed 16 bits; index_values.h, value_bounds.h
  std::vector<float> bounds_;          // by value, for sums of 16 bits; see value_bounds.h
  std::vector<int> reads_;             // by value: how often nodes read it
  mutable std::map<std::string, KernelSource, std::less<>> parsed_;  // by name; parsing is half of making a plan
  Plan plan_;
  std::deque<TensorDesc> scratch_;         // ids follow the graph's; a deque, because DescOf returns references
  std::map<ValueId, bool> device_values_;  // roots that live in the arena
  std::map<ValueId, size_t> made_at_;      // by root: the index in pending_ of the last writer
  struct Place {
    ValueId of = kNoValue;
    uint64_t offset_bytes = 0;
  };
  std::map<ValueId, Place> alias_of_;
  std::map<ValueId, Deferred> deferred_;
  std::vector<std::pair<ValueId, PackRecipe>> constant_keys_;  // parallel to plan_.constants
  std::vector<std::variant<PendingDispatch, PendingHost>> pending_;
};

}  // namespace hearth

#endif  // HEARTH_CORE_PLAN_PLAN_BUILDER_H_
