// Code that lowerings of several operations share.
#ifndef HEARTH_CORE_LOWERING_LOWERING_SUPPORT_H_
#define HEARTH_CORE_LOWERING_LOWERING_SUPPORT_H_

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/graph/op_def.h"
#include "core/plan/plan_builder.h"

namespace hearth {

// The number of dimensions that kernels support. For shapes with more, lowerings join neighbours that a kernel treats
// alike; if too many remain, the node runs on the CPU.
inline constexpr int kMaxKernelRank = 6;

// The fused activation as an epilogue, empty for "none". The relu family is one clamp with scalar bounds, so that
// layers which differ only there share a program. `suffix` ends the names of its arguments.
std::vector<EpilogueStep> ActivationEpilogue(Activation activation, std::string_view suffix = "");
// The same for results that are plain integers. Precondition: the activation is a clamp.
std::vector<EpilogueStep> IntegerActivationEpilogue(Activation activation);
// Makes plain 8- and 16-bit integers wrap, as on the CPU, although the device calculates in 32 bits. Empty for other
// results.
std::vector<EpilogueStep> IntegerWrapEpilogue(const TensorDesc& desc);
// Appended to the epilogue of a node that calculates.
void WrapIntegers(const Node& node, const PlanBuilder& builder, KernelCall& call);

// For kernels whose work item makes RUN pixels of a line along the first dimension: all OW of them on a CPU, so that
// shared values of the line are calculated once; one on a GPU, so that neighbouring work items make neighbouring
// pixels.
void UseWholeLines(const DeviceInfo& device, KernelCall& call);

// The name of a kernel's tensor number kPlace. Clang 14 finds that it is constant only where it is a variable.
template <typename Kernel, size_t kPlace>
inline constexpr TensorName kTensorNameOf = Kernel::kTensors[kPlace].data();

// A call of a kernel whose tensors are the node's inputs and then its outputs.
template <typename Kernel>
KernelCall NodeCallOf(PlanBuilder& builder, const Node& node) {
  std::vector<ValueId> values = node.inputs;
  values.insert(values.end(), node.outputs.begin(), node.outputs.end());
  HEARTH_CHECK(values.size() == Kernel::kTensors.size());
  KernelCall call;
  call.kernel = Kernel::kName.data();
  [&]<size_t... kPlace>(std::index_sequence<kPlace...>) {
    call.tensors = {NamedOperand{kTensorNameOf<Kernel, kPlace>, builder.Tensor(values[kPlace])}...};
  }
  (std::make_index_sequence<Kernel::kTensors.size()>());
  return call;
}

// A bias operand for `channels` outputs in vectors of `width`: packed, or zeros when `bias` is kNoValue. A computed
// bias has vectors of 4 only.
Operand BiasOperand(PlanBuilder& builder, ValueId bias, int32_t channels, int32_t width);

// Input and output sizes as the image kernels name them: IH IW IPIX OH OW OPIX N4 BATCH (N4 of the output).
std::vector<NamedScalar> ImageScalars(const Bhwc& in, const Bhwc& out);
// Those, and what kernels find the pixels of a window by: KH KW SH SW DH DW PT PL.
std::vector<NamedScalar> WindowScalars(const Window2D& window, const Bhwc& in, const Bhwc& out, int32_t kernel_h,
                                       int32_t kernel_w);

// `lanes` work items for each of `pixels` times `depth`, and the scalar LINE: for kernels that need no coordinates,
// lines of pixels, since drivers limit the number of work groups in each dimension (GLES guarantees 65,535).
void UseLines(int64_t pixels, int64_t depth, KernelCall& call, int64_t lanes = 1, int64_t longest = 1 << 16);

// The size of a work group whose work items are independent.
uint32_t OneLaneGroup(const DeviceInfo& device);

// The items of a kernel's work group where it knows them as LANES: `wanted`, or a half, a quarter and so on of it if
// the device's groups hold fewer, or its local memory, of which each item takes `local_bytes`. 1 at least: an item that
// shares nothing.
int FittingLanes(const DeviceInfo& device, int wanted, uint64_t local_bytes = 0);
// Without the choices that share among more items than that.
std::vector<KernelChoice> WithFittingLanes(const DeviceInfo& device, std::vector<KernelChoice> choices,
                                           uint64_t local_bytes = 0);

// How many work items share one pixel's `slices` of channels in a kernel that adds them up: 1, or what fits of 32.
int ChannelLanes(const DeviceInfo& device, int32_t slices);
// That number first, then others for tuning.
std::vector<KernelChoice> ChannelLaneChoices(const DeviceInfo& device, int32_t slices);

// For Placing, by value of the graph.
std::vector<bool> ValuesThatFit32Bits(const Graph& graph);

// Reasons that apply to most operations: a tensor of plain integers; an input beyond 32 bits; int64 that is calculated
// or read.
UnsupportedFunction NotReal, WideIntegers, WideResults;

}  // namespace hearth

#endif  // HEARTH_CORE_LOWERING_LOWERING_SUPPORT_H_
