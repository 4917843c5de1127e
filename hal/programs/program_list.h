// Lists of binaries: kernels that share one driver program (CompileGrouping::kTogether) are stored as the set that was
// compiled, and a plan with some of the same kernels compiles only the rest. An entry for its kernels, and one for each
// kernel of a set, lists the binaries that hold them.
#ifndef HEARTH_HAL_PROGRAMS_PROGRAM_LIST_H_
#define HEARTH_HAL_PROGRAMS_PROGRAM_LIST_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "hal/programs/program_keys.h"

namespace hearth {

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

}  // namespace hearth

#endif  // HEARTH_HAL_PROGRAMS_PROGRAM_LIST_H_
