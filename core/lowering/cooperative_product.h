// 1x1 convolutions by the kernel pointwise_matrix: a subgroup multiplies whole matrices in one step.
#ifndef HEARTH_CORE_LOWERING_COOPERATIVE_PRODUCT_H_
#define HEARTH_CORE_LOWERING_COOPERATIVE_PRODUCT_H_

#include <string_view>
#include <vector>

#include "core/device/device_info.h"
#include "core/device/kernel_choice.h"
#include "core/lowering/flat_product.h"
#include "core/plan/plan_builder.h"

namespace hearth {

// `rows` and `cols` of such a choice count matrices, `lanes` the invocations of a subgroup.
inline constexpr std::string_view kCooperativeVariant = "cooperative";

// Where the rule cooperative_matrices applies the first is used, elsewhere tuning may choose one. None without matrices
// (DeviceInfo::matrix_shape), if local memory is too small, and for results of less than half of a group's tile.
// Precondition of using one: input and weights are stored as float16.
std::vector<KernelChoice> CooperativeCandidates(const DeviceInfo& device, const ProductSize& size);

// Sets kernel, defines, local memory, group and work items for such a choice.
void UseCooperative(const DeviceInfo& device, const ProductSize& size, const KernelChoice& choice, KernelCall& call);

}  // namespace hearth

#endif  // HEARTH_CORE_LOWERING_COOPERATIVE_PRODUCT_H_
