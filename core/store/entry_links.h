// Entries that lead to other entries: the bytes of one hold the keys of the others, and then the rest.
//
// A program names the SPIR-V that it was made from, which is stored once for all drivers; without it the program is of
// no use. A list of programs names the binaries that hold them.
#ifndef HEARTH_CORE_STORE_ENTRY_LINKS_H_
#define HEARTH_CORE_STORE_ENTRY_LINKS_H_

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "core/store/cache_key.h"

namespace hearth {

struct LinkedEntry {
  std::vector<CacheKey> links;  // as they are stored
  std::span<const std::byte> rest;
};

std::vector<std::byte> ToBytes(const LinkedEntry& entry);

// No backend's binary begins with the bytes of a linked entry.
bool HasLinks(std::span<const std::byte> bytes);

// kMalformedInput for bytes that ToBytes did not make. `rest` lies in `bytes`.
Result<LinkedEntry> LinkedEntryFrom(std::span<const std::byte> bytes);

// The entry without which this one is of no use.
std::optional<CacheKey> NeededBy(const CacheKey& key, std::span<const std::byte> bytes);

}  // namespace hearth

#endif  // HEARTH_CORE_STORE_ENTRY_LINKS_H_
