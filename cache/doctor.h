// Diagnoses a cache folder: whether it may be used at all, what wastes space, what slows it down.
#ifndef HEARTH_CACHE_DOCTOR_H_
#define HEARTH_CACHE_DOCTOR_H_

#include <filesystem>
#include <vector>

#include "hearth/cache_types.h"

namespace hearth {

// Looks at everything, changes nothing, never fails. `server` is asked for one name; an empty address is left out.
std::vector<CacheFinding> ExamineCache(const std::filesystem::path& folder, uint64_t max_bytes,
                                       const CacheServer& server);

}  // namespace hearth

#endif  // HEARTH_CACHE_DOCTOR_H_
