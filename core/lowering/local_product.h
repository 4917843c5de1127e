// 1x1 convolutions on GPUs by the kernel pointwise_local: work groups copy what they multiply into local memory.
#ifndef HEARTH_CORE_LOWERING_LOCAL_PRODUCT_H_
#define HEARTH_CORE_LOWERING_LOCAL_PRODUCT_H_

#include <string_view>
#include <vector>

#include "core/device/device_info.h"
#include "core/device/kernel_choice.h"
#include "core/lowering/flat_product.h"
#include "core/plan/plan_builder.h"

namespace hearth {

// A choice of this variant has as `lanes` how many of a group's 64 work items stand over pixels; the others stand over
// channels.
inline constexpr std::string_view kLocalVariant = "local";

// For tuning; no rule picks them, and benchmarks/hardware.md says why. None on processors, on devices without groups of
// 64 items, where local memory is too small, and for results that are less than half of a group's tile.
std::vector<KernelChoice> LocalCandidates(const DeviceInfo& device, const ProductSize& size);

// Kernel, defines, local memory, group and work items of such a choice.
void UseLocal(const ProductSize& size, const KernelChoice& choice, KernelCall& call);

}  // namespace hearth

#endif  // HEARTH_CORE_LOWERING_LOCAL_PRODUCT_H_
