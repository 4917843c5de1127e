// Convolutions on GPUs by the kernels pointwise_flat and conv_flat: work items are numbered through the tiles of all
// pixels and channels, and share sums where there are too few tiles to keep the device busy.
#ifndef HEARTH_CORE_LOWERING_FLAT_PRODUCT_H_
#define HEARTH_CORE_LOWERING_FLAT_PRODUCT_H_

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

// In a choice of this variant, `lanes` is the number of work items that share a sum.
inline constexpr std::string_view kFlatVariant = "flat";

// Rules choose the first. None on processors, on devices without groups of 64 to 128 items or 4 KiB of local memory, or
// if one dimension has too few groups for all items.
std::vector<KernelChoice> FlatCandidates(const DeviceInfo& device, const ProductSize& size);

// Kernel, defines, group and work items of such a choice.
void UseFlat(const DeviceInfo& device, const ProductSize& size, const KernelChoice& choice, KernelCall& call);

}  // namespace hearth

#endif  // HEARTH_CORE_LOWERING_FLAT_PRODUCT_H_
