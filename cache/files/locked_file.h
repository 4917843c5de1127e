// Files of one process beside the store, which others can tell from those of dead processes; and removing large ones.
#ifndef HEARTH_CACHE_FILES_LOCKED_FILE_H_
#define HEARTH_CACHE_FILES_LOCKED_FILE_H_

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string_view>
#include <vector>

#include "core/base/descriptor.h"

namespace hearth {

// A new file of this process, to append to. It is locked (flock) as long as the descriptor is open: whoever can lock it
// later knows that its writer has died.
struct LockedFile {
  std::filesystem::path path;
  Descriptor descriptor;  // not open if the file could not be made
};

// Its name is `prefix` and six random characters: another process, in another pid namespace or earlier, may have this
// one's number.
LockedFile MakeLockedFile(const std::filesystem::path& folder, std::string_view prefix);

// Calls `visit` with each such file whose writer has died, which is locked meanwhile.
void ForEachDeadFile(const std::filesystem::path& folder, std::string_view prefix,
                     const std::function<void(LockedFile& file)>& visit);

// The prefix of files that get the store's name when they are complete.
inline constexpr std::string_view kUnfinishedPrefix = "unfinished-";
// Removes those of at most `most_bytes` that dead processes left; a copy may be as large as a store.
void RemoveUnfinished(const std::filesystem::path& folder, int64_t most_bytes = INT64_MAX);

// Removes the files that exist. ext4 takes half a second to remove a gigabyte. For large files the caller waits 0.3 s
// at most, and another process does the rest.
void RemoveInBackground(const std::vector<std::filesystem::path>& files);

}  // namespace hearth

#endif  // HEARTH_CACHE_FILES_LOCKED_FILE_H_
