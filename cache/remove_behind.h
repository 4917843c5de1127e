// Removes files without making the caller wait for the disk.
#ifndef HEARTH_CACHE_REMOVE_BEHIND_H_
#define HEARTH_CACHE_REMOVE_BEHIND_H_

#include <filesystem>
#include <vector>

namespace hearth {

// Removes the files that exist. ext4 takes half a second to remove a gigabyte. For large files the caller waits 0.3 s
// at most, and another process does the rest.
void RemoveBehind(const std::vector<std::filesystem::path>& files);

}  // namespace hearth

#endif  // HEARTH_CACHE_REMOVE_BEHIND_H_
