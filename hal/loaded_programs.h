// Programs that are ready, and which of them must be stored.
#ifndef HEARTH_HAL_LOADED_PROGRAMS_H_
#define HEARTH_HAL_LOADED_PROGRAMS_H_

#include <memory>
#include <optional>
#include <vector>

#include "core/base/blob_store.h"
#include "hal/device.h"

namespace hearth {

// A cache entry that lists which binaries hold the programs of its key; see program_parts.h.
struct StoredParts {
  CacheKey key{BlobKind::kProgram};
  std::vector<std::byte> bytes;
};

// A group of programs that was compiled in this process and is not in the cache yet.
struct FreshGroup {
  ProgramGroup* group = nullptr;  // null: all programs are in other groups' binaries, and `parts` says in which
  CacheKey key{BlobKind::kProgram};
  double compile_ms = 0;
  std::optional<CacheKey> source_key;   // of the portable part, an entry of its own; absent: the binary is whole
  std::vector<StoredParts> parts = {};  // to be stored with it
  std::unique_ptr<MakingClaim> claim;   // other processes wait until it is stored
};

struct LoadedPrograms {
  std::vector<std::shared_ptr<ProgramGroup>> groups;
  std::vector<Program*> by_kernel;  // in the order of the sources; owned by `groups`
  std::vector<FreshGroup> fresh;
  std::vector<CacheKey> loaded_keys;  // of the entries that programs were made from
  int compiled = 0;                   // programs made from source
  int loaded = 0;                     // programs made from a cached binary
  int spirv_compiled = 0;             // GLSL texts turned into SPIR-V
  int held = 0;                       // programs that were on the device already
};

}  // namespace hearth

#endif  // HEARTH_HAL_LOADED_PROGRAMS_H_
