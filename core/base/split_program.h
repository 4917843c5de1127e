// A store entry for a program whose portable part (SPIR-V) is an entry of its own, which it names: so the portable part
// is stored once, for the programs of all drivers. Without it this entry is of no use.
#ifndef HEARTH_CORE_BASE_SPLIT_PROGRAM_H_
#define HEARTH_CORE_BASE_SPLIT_PROGRAM_H_

#include <cstddef>
#include <span>
#include <vector>

#include "core/base/fingerprint.h"

namespace hearth {

struct SplitProgram {
  CacheKey source{BlobKind::kSource};      // of the portable part
  std::span<const std::byte> driver_part;  // what only this driver takes
};

std::vector<std::byte> MakeSplitProgram(const SplitProgram& program);

// No backend's binary begins with these bytes.
bool IsSplitProgram(std::span<const std::byte> bytes);

// kMalformedInput for bytes that MakeSplitProgram did not make. `driver_part` lies in `bytes`.
Result<SplitProgram> SplitProgramFrom(std::span<const std::byte> bytes);

}  // namespace hearth

#endif  // HEARTH_CORE_BASE_SPLIT_PROGRAM_H_
