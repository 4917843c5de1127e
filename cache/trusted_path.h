// Who else could change what lies under a path.
#ifndef HEARTH_CACHE_TRUSTED_PATH_H_
#define HEARTH_CACHE_TRUSTED_PATH_H_

#include <sys/stat.h>

#include <filesystem>

#include "hearth/status.h"

namespace hearth {

// Whether others than the owner (and root) may write to `path`, of which `info` tells. A group in which nobody but the
// owner is, as many systems give each user one, is no others; but where there is an access list, the group's bits are
// those of everybody in it.
bool OthersMayWrite(const std::filesystem::path& path, const struct stat& info);

// Every folder above `path` (absolute, without links): owned by this user or root, and not writable by others,
// except with the sticky bit, with which they can't replace what is ours. kIoError says which is not, and what to do.
Status CheckParents(const std::filesystem::path& path);

// Whether `path` (a folder or file, absolute, without links), all in it and every folder above are root's and only root
// may write to them: then a package of the system has put there what it holds.
bool OnlyRootMayWrite(const std::filesystem::path& path);

}  // namespace hearth

#endif  // HEARTH_CACHE_TRUSTED_PATH_H_
