// 1x1 convolutions on GPUs by the kernel pointwise_local: each work group copies its operands into local memory.
#ifndef HEARTH_CORE_LOWERING_LOCAL_PRODUCT_H_
#define HEARTH_CORE_LOWERING_LOCAL_PRODUCT_H_

#include <string_view>
#include <vector>

#include "core/device/device_info.h"
#include "core/device/kernel_choice.h"
#include "core/lowering/flat_product.h"
#include "core/plan/plan_builder.h"

namespace hearth {

// The `lanes` of a choice of this variant: how many of a group's 64 work items lie along pixels. The rest of the group
// lies along channels.
inline constexpr std::string_view kLocalVariant = "local";

// Candidates for tuning. No rule picks them; benchmarks/hardware.md says why. There are none on CPU devices, on devices
// without groups of 64 items, if local memory is too small, and for results of less than half of a group's tile.
std::vector<KernelChoice> LocalCandidates(const DeviceInfo& device, const ProductSize& size);

// Sets kernel, defines, local memory, group and work items for such a choice.
void UseLocal(const ProductSize& size, const KernelChoice& choice, KernelCall& call);

}  // namespace hearth

#endif  // HEARTH_CORE_LOWERING_LOCAL_PRODUCT_H_
