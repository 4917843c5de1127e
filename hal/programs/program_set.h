// The programs of kernels that share one entry of the cache: as many as possible from there, the rest from the
// compiler.
#ifndef HEARTH_HAL_PROGRAMS_PROGRAM_SET_H_
#define HEARTH_HAL_PROGRAMS_PROGRAM_SET_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "hal/device/device.h"
#include "hal/programs/program_keys.h"

namespace hearth {

// Lists of binaries: kernels that share one driver program (CompileGrouping::kTogether) are stored as the set that was
// compiled, and a plan with some of the same kernels compiles only the rest. An entry for its kernels, and one for each
// kernel of a set, lists the binaries that hold them.
struct ProgramList {
  std::vector<CacheKey> binaries;
  std::vector<uint32_t> binary_of;  // per kernel: index into `binaries`
};

std::vector<std::byte> ToBytes(const ProgramList& list);

// kMalformedInput for bytes that ToBytes did not make, and for a wrong number of kernels.
Result<ProgramList> ProgramListFrom(std::span<const std::byte> bytes, size_t kernels);

struct ChosenBinary {
  CacheKey key{BlobKind::kProgram};
  std::vector<size_t> kernels;  // indices of texts
};

// Chooses stored binaries of other plans for all of these kernels of a request that has `texts`. Each binary costs
// every later start its loading time. So few are chosen, those with the most kernels first, and none for a single
// kernel if something has to be compiled anyway.
std::vector<ChosenBinary> ChooseBinaries(const KernelTexts& texts, const DeviceInfo& info, ResultCache& cache);

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
