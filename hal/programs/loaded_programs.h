// Programs that are ready, and what must be stored of them.
#ifndef HEARTH_HAL_PROGRAMS_LOADED_PROGRAMS_H_
#define HEARTH_HAL_PROGRAMS_LOADED_PROGRAMS_H_

#include <memory>
#include <optional>
#include <vector>

#include "core/store/result_cache.h"
#include "hal/device/device.h"

namespace hearth {

// An entry that is not in the cache yet; its bytes are read from the group after its programs ran.
struct FreshEntry {
  CacheKey key;
  double cost_ms = 0;
};

// Programs that were compiled in this process and are not in the cache yet.
struct FreshGroup {
  ProgramGroup* group = nullptr;  // null: all programs are in other groups' binaries, and `lists` say in which
  FreshEntry program{CacheKey(BlobKind::kProgram)};
  std::optional<FreshEntry> portable = {};  // an entry of its own; absent: the binary is whole
  std::vector<KeyedBytes> lists = {};       // that lead to this binary, to be stored with it
  std::unique_ptr<MakingClaim> claim;       // other processes wait until it is stored
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

#endif  // HEARTH_HAL_PROGRAMS_LOADED_PROGRAMS_H_
