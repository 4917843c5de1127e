// A store entry for programs that, instead of a binary, says which entries have their binaries.
//
// Kernels that share one driver program (CompileGrouping::kTogether) are stored as the set that was compiled. A plan
// with some of the same kernels compiles only the rest. Entries under its key, and under that of each kernel of a set,
// say which sets contain them.
#ifndef HEARTH_HAL_PROGRAM_PARTS_H_
#define HEARTH_HAL_PROGRAM_PARTS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/fingerprint.h"

namespace hearth {

struct ProgramParts {
  std::vector<CacheKey> binaries;
  std::vector<uint32_t> binary_of;  // per kernel: index into `binaries`
};

std::vector<std::byte> ToBytes(const ProgramParts& parts);

// No backend's binary begins with these bytes.
bool IsProgramParts(std::span<const std::byte> bytes);

// kMalformedInput for bytes that ToBytes did not make, and for a wrong number of kernels.
Result<ProgramParts> ProgramPartsFrom(std::span<const std::byte> bytes, size_t kernels);

}  // namespace hearth

#endif  // HEARTH_HAL_PROGRAM_PARTS_H_
