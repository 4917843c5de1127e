// Removing files for whose disk space nobody waits.
#ifndef HEARTH_CACHE_REMOVE_BEHIND_H_
#define HEARTH_CACHE_REMOVE_BEHIND_H_

#include <filesystem>
#include <vector>

namespace hearth {

// Removes the files, as far as they are there. ext4 takes half a second to take a gigabyte off the disk: of large files
// the caller waits for 0.3 s at most, and a process of its own does the rest.
void RemoveBehind(const std::vector<std::filesystem::path>& files);

}  // namespace hearth

#endif  // HEARTH_CACHE_REMOVE_BEHIND_H_
