// Which stored binaries of other plans a plan takes kernels from.
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

// For those of `sources` that are `wanted`; `grids` as ProgramKey takes them. Each binary costs every later start the
// time to load it, so few are chosen: those that hold most, and none for one kernel where something has to be compiled
// anyway.
std::vector<ChosenBinary> ChooseBinaries(std::span<const KernelSource> sources, std::span<const GridClasses> grids,
                                         std::vector<size_t> wanted, const DeviceInfo& info, BlobStore& store);

}  // namespace hearth

#endif  // HEARTH_HAL_CHOOSE_BINARIES_H_
