// Which other entry a program's entry needs.
#ifndef HEARTH_CACHE_NEEDED_SOURCE_H_
#define HEARTH_CACHE_NEEDED_SOURCE_H_

#include <cstddef>
#include <optional>
#include <span>

#include "core/base/fingerprint.h"

namespace hearth {

// The key, as it is in the store, of the portable part without which the program is of no use (split_program.h);
// nullopt for other entries.
std::optional<CacheKey> SourceNeededBy(const CacheKey& program, std::span<const std::byte> bytes);

}  // namespace hearth

#endif  // HEARTH_CACHE_NEEDED_SOURCE_H_
