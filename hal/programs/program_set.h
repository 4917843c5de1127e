// The programs of kernels that share one entry of the cache: as many as possible from there, the rest from the
// compiler.
#ifndef HEARTH_HAL_PROGRAMS_PROGRAM_SET_H_
#define HEARTH_HAL_PROGRAMS_PROGRAM_SET_H_

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "hal/device/device.h"
#include "hal/programs/loaded_programs.h"
#include "hal/programs/program_keys.h"
#include "hal/programs/program_list.h"

namespace hearth {

struct ProgramSet {
  std::vector<std::unique_ptr<ProgramGroup>> groups;
  std::vector<Program*> by_kernel;  // null: missing
  ProgramList list;                 // the binary of each program
  double binaries_cost_ms = 0;      // that making the loaded ones took
  std::vector<CacheKey> loaded_keys;
  std::optional<FreshGroup> fresh;
  int compiled = 0;
};

// `cache` may be null. `all_anew`: uses no binaries of other sources. `grids`: as KernelTextsOf takes them.
Result<ProgramSet> GetPrograms(Device& device, std::span<const KernelSource> sources,
                               std::span<const GridClasses> grids, ResultCache* cache, bool all_anew);

}  // namespace hearth

#endif  // HEARTH_HAL_PROGRAMS_PROGRAM_SET_H_
