// Entries that a session could not store because others wrote until its end. Files beside the store, `left-` and six
// random characters, keep them until the next session stores them.
//
// A file is a sequence of records: u64 size of the envelope (key_value_blob_store.h), u8 kind, u64 size of the key's
// material, material, envelope. The complete records of a truncated file are used.
#ifndef HEARTH_CACHE_LEFTOVER_H_
#define HEARTH_CACHE_LEFTOVER_H_

#include <filesystem>
#include <functional>
#include <span>

#include "cache/locked_file.h"
#include "core/base/blob_store.h"

namespace hearth {

// A file that the next session removes if this process dies before it renames or removes it.
LockedFile MakeUnfinishedFile(const std::filesystem::path& folder);

// Returns false if it could not be written, or if there is too much already.
bool LeaveForLater(const std::filesystem::path& folder, std::span<const PutRequest> requests);

// Calls `store` with the content of each file and removes the file if that returns true. Also removes
// files of at most 64 MiB that a process that died was writing. Costs one readdir if there are none.
void TakeLeftovers(const std::filesystem::path& folder, const std::function<bool(std::span<const PutRequest>)>& store);

// Removes all files that processes that died were writing.
void RemoveUnfinished(const std::filesystem::path& folder);

// Removes the files unread.
void RemoveLeftovers(const std::filesystem::path& folder);

}  // namespace hearth

#endif  // HEARTH_CACHE_LEFTOVER_H_
