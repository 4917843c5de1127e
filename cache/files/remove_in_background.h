// Removes files without making the caller wait for the disk.
#ifndef HEARTH_CACHE_FILES_REMOVE_IN_BACKGROUND_H_
#define HEARTH_CACHE_FILES_REMOVE_IN_BACKGROUND_H_

#include <filesystem>
#include <vector>

namespace hearth {

// Removes the files that exist. ext4 takes half a second to remove a gigabyte. For large files the caller waits 0.3 s
// at most, and another process does the rest.
void RemoveInBackground(const std::vector<std::filesystem::path>& files);

}  // namespace hearth

#endif  // HEARTH_CACHE_FILES_REMOVE_IN_BACKGROUND_H_
