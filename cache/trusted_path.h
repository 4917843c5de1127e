// Checks who else could change what is below a path.
#ifndef HEARTH_CACHE_TRUSTED_PATH_H_
#define HEARTH_CACHE_TRUSTED_PATH_H_

#include <sys/stat.h>

#include <filesystem>

#include "hearth/status.h"

namespace hearth {

// Whether others than the owner (and root) may write to `path`, whose `info` is given. A group whose only member is the
// owner, as many systems have for each user, does not count. But with an access list, the group's bits are those of
// everybody in the list.
bool OthersMayWrite(const std::filesystem::path& path, const struct stat& info);

// Checks every folder above `path` (absolute, without links): this user or root must own it, and others must not be
// able to write to it, except with the sticky bit, with which they can't replace our files. kIoError says which folder
// fails, and what to do.
Status CheckParents(const std::filesystem::path& path);

// Whether root owns `path` (a folder or file, absolute, without links), everything in it and every folder above, and
// only root may write to them: then a package of the system has put its content there.
bool OnlyRootMayWrite(const std::filesystem::path& path);

}  // namespace hearth

#endif  // HEARTH_CACHE_TRUSTED_PATH_H_
