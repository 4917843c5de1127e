// The files of a cache folder: which is the store, and what lies beside it.
//
//   hearth.db            the store, in the newest format that was used here
//   hearth-<n>.db        a store of format n: Hearths of different formats share a folder, each with its own
//   hearth.db.damaged    a damaged store that was moved aside
//   hearth.db.cleared    what `clear` is removing; a later session removes what one that was killed left
// each with sqlite's side files.
#ifndef HEARTH_CACHE_FILES_STORE_NAMES_H_
#define HEARTH_CACHE_FILES_STORE_NAMES_H_

#include <cstdint>
#include <filesystem>
#include <vector>

#include "hearth/status.h"

namespace hearth {

std::filesystem::path FileOfFormat(const std::filesystem::path& folder, int64_t format);
std::filesystem::path ClearedFile(const std::filesystem::path& folder);
std::filesystem::path DamagedFile(const std::filesystem::path& folder);

// Of a file that could not be renamed or removed, by errno: why not, and what to do.
Status CantReplace(const std::filesystem::path& file);

// Renames a database with its log, because it may be in use and the log belongs to it. Replaces `to`.
Status RenameWithSideFiles(const std::filesystem::path& from, const std::filesystem::path& to);
std::vector<std::filesystem::path> WithSideFiles(const std::filesystem::path& file);
void RemoveSideFiles(const std::filesystem::path& file);
void RemoveWithSideFiles(const std::filesystem::path& file);
uint64_t BytesWithLog(const std::filesystem::path& file);  // 0 if it does not exist

// Removes stores in `folder` other than `own` that nobody wrote to for `unused_days`; 0: all.
void RemoveOtherFormats(const std::filesystem::path& folder, const std::filesystem::path& own, int unused_days);
uint64_t OtherFormatsBytes(const std::filesystem::path& folder, const std::filesystem::path& own);

}  // namespace hearth

#endif  // HEARTH_CACHE_FILES_STORE_NAMES_H_
