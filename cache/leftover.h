// What a session could not store because others wrote until its end: kept in files of their own beside the store,
// `left-<pid>-<n>`, until the next session takes it up.
//
// A file is a row of records: u64 size of the envelope (key_value_blob_store.h), u8 kind, u64 size of the key's
// material, material, envelope. A file cut short counts as far as it goes.
#ifndef HEARTH_CACHE_LEFTOVER_H_
#define HEARTH_CACHE_LEFTOVER_H_

#include <filesystem>
#include <functional>
#include <span>

#include "core/base/blob_store.h"

namespace hearth {

// False when it could not be written, or when too much lies there already.
bool LeaveForLater(const std::filesystem::path& folder, std::span<const PutRequest> requests);

// Gives `store` what each file holds, and removes the file when it returns true. Cost where there is none: one readdir.
void TakeLeftovers(const std::filesystem::path& folder, const std::function<bool(std::span<const PutRequest>)>& store);

// Removes them unread.
void RemoveLeftovers(const std::filesystem::path& folder);

}  // namespace hearth

#endif  // HEARTH_CACHE_LEFTOVER_H_
