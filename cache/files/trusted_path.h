// Checks who else could change what is below a path.
#ifndef HEARTH_CACHE_FILES_TRUSTED_PATH_H_
#define HEARTH_CACHE_FILES_TRUSTED_PATH_H_

#include <sys/stat.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>

#include "hearth/status.h"

namespace hearth {

// Whether only this user or root can have made what `owner` owns.
bool IsOursOrRoots(uid_t owner);

// Who may write to a cache's folder and files, besides this user and root: nobody, the members of one group, or whoever
// can reach the folder. They can make each other run code.
struct Trust {
  std::optional<gid_t> group;
  bool everyone = false;

  // $HEARTH_CACHE_TRUST: "owner" (default), "group:NAME", "group:NUMBER", "everyone". kInvalidArgument for other texts,
  // kNotFound for an unknown name.
  static Result<Trust> OfEnvironment();

  // Whether someone trusted made `path`, whose `info` is given. In a folder that all may write to (with the sticky bit)
  // anybody can make a folder, which belongs to the same group if the setgid bit is set.
  bool Owns(const std::filesystem::path& path, const struct stat& info) const;
};

// Whether others than the owner, root and those in `trust` may write to `path`, whose `info` is given. A group whose
// only member is the owner, as many systems have for each user, does not count. But with an access list, the group's
// bits are those of everybody in the list.
bool OthersMayWrite(const std::filesystem::path& path, const struct stat& info, const Trust& trust = {});

enum class LastName : uint8_t { kKept, kFollowed };            // if it is a link
enum class MissingFolders : uint8_t { kAreErrors, kAreMade };  // above the last name

// `wanted` as an absolute path without links above its last name. The walk begins at the root and checks a folder
// before it looks up a name there, so folders that only hold a link on the way are checked too, and nothing is made
// where others may write. This user, root or someone in `trust` must own each folder and link, and others must not be
// able to write to a folder, except with the sticky bit, with which they can't replace our files. kIoError says which
// folder or link fails, and what to do. kNotFound if something on the way is missing; the last name may be, unless it
// is followed.
Result<std::filesystem::path> TrustedPath(const std::filesystem::path& wanted, LastName last = LastName::kKept,
                                          MissingFolders missing = MissingFolders::kAreErrors, const Trust& trust = {});

// Where a new file goes, a `what` for messages: nobody else can lead it elsewhere, or replace it there. kIoError if
// not, or if its folder is missing.
Result<std::filesystem::path> PlaceOfNewFile(const std::filesystem::path& wanted, std::string_view what);

// Makes a folder that only its owner (mode 0700) and those in `trust` may use (2770, 0777), whatever the umask; one
// that exists is left as it is. Precondition: the folder above is one of TrustedPath's, so nobody else can replace what
// is made.
Status MakeFolder(const std::filesystem::path& folder, const Trust& trust = {});

// Whether root owns `path` (a folder or file, absolute, without links), everything in it and every folder above, and
// only root may write to them: then a package of the system has put its content there.
bool OnlyRootMayWrite(const std::filesystem::path& path);

}  // namespace hearth

#endif  // HEARTH_CACHE_FILES_TRUSTED_PATH_H_
