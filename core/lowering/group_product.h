// How GPUs' work groups share the work of a convolution, as candidates for its kernel and as the dispatch of one.
#ifndef HEARTH_CORE_LOWERING_GROUP_PRODUCT_H_
#define HEARTH_CORE_LOWERING_GROUP_PRODUCT_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/device/device_info.h"
#include "core/device/kernel_choice.h"
#include "core/plan/plan_builder.h"

namespace hearth {

struct ProductSize {
  int64_t pixels = 0;
  int32_t channels_in = 0, channels_out = 0;
  bool is_pointwise = true;
};

// ---- Flat: pointwise_flat and conv_flat ----
// Work items are numbered through the tiles of all pixels and channels, and share sums where there are too few tiles to
// keep the device busy.

// In a choice of this variant, `lanes` is the number of work items that share a sum.
inline constexpr std::string_view kFlatVariant = "flat";

// Rules choose the first. None on processors, on devices without groups of 64 to 128 items or 4 KiB of local memory, or
// if one dimension has too few groups for all items.
std::vector<KernelChoice> FlatCandidates(const DeviceInfo& device, const ProductSize& size);

// Kernel, defines, group and work items of such a choice.
void UseFlat(const DeviceInfo& device, const ProductSize& size, const KernelChoice& choice, KernelCall& call);

// ---- Local: pointwise_local, for 1x1 convolutions ----
// Each work group copies its operands into local memory.

// The `lanes` of a choice of this variant: how many of a group's 64 work items lie along pixels. The rest of the group
// lies along channels.
inline constexpr std::string_view kLocalVariant = "local";

// Candidates for tuning. No rule picks them; benchmarks/hardware.md says why. There are none on CPU devices, on devices
// without groups of 64 items, if local memory is too small, and for results of less than half of a group's tile.
std::vector<KernelChoice> LocalCandidates(const DeviceInfo& device, const ProductSize& size);

// Sets kernel, defines, local memory, group and work items for such a choice.
void UseLocal(const ProductSize& size, const KernelChoice& choice, KernelCall& call);

// ---- Cooperative: pointwise_matrix, for 1x1 convolutions ----
// A subgroup multiplies whole matrices in one step.

// `rows` and `cols` of such a choice count matrices, `lanes` the invocations of a subgroup.
inline constexpr std::string_view kCooperativeVariant = "cooperative";

// Where the rule cooperative_matrices applies the first is used, elsewhere tuning may choose one. None without matrices
// (DeviceInfo::matrix_shape), if local memory is too small, and for results of less than half of a group's tile.
// Precondition of using one: input and weights are stored as float16.
std::vector<KernelChoice> CooperativeCandidates(const DeviceInfo& device, const ProductSize& size);

// Sets kernel, defines, local memory, group and work items for such a choice.
void UseCooperative(const DeviceInfo& device, const ProductSize& size, const KernelChoice& choice, KernelCall& call);

}  // namespace hearth

#endif  // HEARTH_CORE_LOWERING_GROUP_PRODUCT_H_
