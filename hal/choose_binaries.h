// Chooses stored binaries of other plans that a plan loads kernels from.
#ifndef HEARTH_HAL_CHOOSE_BINARIES_H_
#define HEARTH_HAL_CHOOSE_BINARIES_H_

#include <span>
#include <vector>

#include "core/base/blob_store.h"
#include "core/device/device_info.h"
#include "core/emit/kernel_source.h"
#include "hal/program_keys.h"

namespace hearth {

struct ChosenBinary {
  CacheKey key{BlobKind::kProgram};
  std::vector<size_t> kernels;  // indices of sources
};

// Chooses binaries for those of `sources` that are `wanted`; `grids` as in ProgramKey. Each binary costs every later
// start its loading time. So few are chosen, those with the most kernels first, and none for a single kernel if
// something has to be compiled anyway.
std::vector<ChosenBinary> ChooseBinaries(std::span<const KernelSource> sources, std::span<const GridClasses> grids,
                                         std::vector<size_t> wanted, const DeviceInfo& info, BlobStore& store);

}  // namespace hearth

#endif  // HEARTH_HAL_CHOOSE_BINARIES_H_
