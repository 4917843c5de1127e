#include "cache/files/trusted_path.h"

#include <grp.h>
#include <pwd.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <deque>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "core/base/environment.h"
#include "core/base/error.h"

namespace hearth {
namespace {

namespace fs = std::filesystem;

constexpr const char* kTrustVariable = "HEARTH_CACHE_TRUST";
constexpr size_t kMaxRecordBytes = 1 << 16;
constexpr int kMostLinks = 40;      // as Linux has
constexpr int kMostMissing = 2048;  // names in the longest path
constexpr int kMostEntries = 1 << 16;

// Only local users: a directory server is not asked for its list of users.
bool IsAnyoneElsesGroup(gid_t group, uid_t owner) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> users(std::fopen("/etc/passwd", "re"), std::fclose);
  if (users == nullptr) return true;
  std::vector<char> room(kMaxRecordBytes);
  passwd entry;
  passwd* user = nullptr;
  while (::fgetpwent_r(users.get(), &entry, room.data(), room.size(), &user) == 0) {
    if (user->pw_gid == group && user->pw_uid != owner) return true;
  }
  return false;
}

// The user's own group: the primary one, with the user's name and no other members.
bool IsPrivateGroup(gid_t group, uid_t owner) {
  std::vector<char> user_room(kMaxRecordBytes), group_room(kMaxRecordBytes);
  passwd user_entry;
  passwd* user = nullptr;
  ::group group_entry;
  ::group* found = nullptr;
  if (::getpwuid_r(owner, &user_entry, user_room.data(), user_room.size(), &user) != 0 || user == nullptr) return false;
  if (::getgrgid_r(group, &group_entry, group_room.data(), group_room.size(), &found) != 0 || found == nullptr) {
    return false;
  }
  const std::string_view name(user->pw_name);
  if (user->pw_gid != group || name != found->gr_name) return false;
  for (char** member = found->gr_mem; *member != nullptr; ++member) {
    if (name != *member) return false;
  }
  return !IsAnyoneElsesGroup(group, owner);
}

bool HasAccessList(const fs::path& path) {
  return ::lgetxattr(path.c_str(), "system.posix_acl_access", nullptr, 0) > 0;
}

bool IsRootsAlone(const fs::path& path) {
  struct stat info;
  return ::lstat(path.c_str(), &info) == 0 && info.st_uid == 0 && !S_ISLNK(info.st_mode) &&
         (info.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

Result<gid_t> GroupNamed(const std::string& name) {
  uint32_t number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  // The last number is none: chown takes it for "as it is".
  if (error == std::errc() && end == name.data() + name.size() && number != std::numeric_limits<uint32_t>::max())
    return number;
  std::vector<char> room(kMaxRecordBytes);
  ::group entry;
  ::group* found = nullptr;
  if (::getgrnam_r(name.c_str(), &entry, room.data(), room.size(), &found) == 0 && found != nullptr)
    return found->gr_gid;
  return Error(StatusCode::kNotFound, "{}: there is no group '{}'", kTrustVariable, name);
}

Status MakeFolderOf(const fs::path& folder, const std::optional<gid_t>& group, mode_t mode) {
  if (::mkdir(folder.c_str(), 0700) != 0) {
    if (errno == EEXIST) return Status::Ok();
  } else if (group && ::chown(folder.c_str(), static_cast<uid_t>(-1), *group) != 0) {
    ::rmdir(folder.c_str());
    return Error(StatusCode::kIoError, "can't give the folder {} to group {}, which {} names: is this user a member?",
                 folder.string(), *group, kTrustVariable);
  } else if (::chmod(folder.c_str(), mode) == 0) {
    return Status::Ok();
  }
  return Error(StatusCode::kIoError, "can't make the folder {}: {}; choose another", folder.string(),
               std::strerror(errno));
}

class TrustedWalk {
 public:
  TrustedWalk(const fs::path& path, LastName last, MissingFolders missing, const Trust& trust)
      : path_(path), last_(last), missing_(missing), trust_(trust), at_(path.root_path()) {
    Queue(path);
  }

  Result<fs::path> Run() {
    while (!names_.empty()) {
      HEARTH_TRY(CheckFolder());
      const fs::path name = names_.front();
      names_.pop_front();
      if (name.empty() || name == ".") continue;
      if (names_.empty() && last_ == LastName::kKept && name != "..") return at_ / name;
      HEARTH_TRY(Enter(name));
    }
    return at_;
  }

 private:
  void Queue(const fs::path& path) {
    const fs::path relative = path.relative_path();
    names_.insert(names_.begin(), relative.begin(), relative.end());
  }

  // Checks the folder in which the next name is looked up.
  Status CheckFolder() {
    struct stat info;
    if (::lstat(at_.c_str(), &info) != 0) {
      return Error(StatusCode::kIoError, "can't examine {}: {}", at_.string(), std::strerror(errno));
    }
    if (!trust_.Owns(at_, info)) {
      return Error(StatusCode::kIoError, "{}, above {}, belongs to user {}, who could replace it: choose another place",
                   at_.string(), path_.string(), info.st_uid);
    }
    if ((info.st_mode & S_ISVTX) == 0 && OthersMayWrite(at_, info, trust_)) {
      return Error(
          StatusCode::kIoError,
          "{}, above {}, may be written by other users, who could replace it: 'chmod go-w' it, or choose another place",
          at_.string(), path_.string());
    }
    return Status::Ok();
  }

  Status Enter(const fs::path& name) {
    const fs::path next = name == ".." ? at_.parent_path() : at_ / name;
    struct stat info;
    if (::lstat(next.c_str(), &info) != 0) return EnterMissing(next, errno);
    if (S_ISLNK(info.st_mode)) return EnterLink(next, info);
    if (!names_.empty() && !S_ISDIR(info.st_mode)) {
      return Error(StatusCode::kIoError, "{}, above {}, is not a folder", next.string(), path_.string());
    }
    at_ = next;
    return Status::Ok();
  }

  Status EnterMissing(const fs::path& next, int error) {
    if (error != ENOENT) {
      return Error(StatusCode::kIoError, "can't examine {}: {}", next.string(), std::strerror(error));
    }
    if (missing_ == MissingFolders::kAreErrors) {
      return Error(StatusCode::kNotFound, "there is no {}", path_.string());
    }
    if (missing_left_-- == 0) return Error(StatusCode::kIoError, "{} is made and can't be found", next.string());
    // Whoever may write in a folder of the cache has no business above it, where others keep their own.
    HEARTH_TRY(trust_.everyone ? MakeFolderOf(next, {}, 0755) : MakeFolder(next, trust_));
    names_.push_front(next.filename());  // examined again, because another process may have made something else
    return Status::Ok();
  }

  Status EnterLink(const fs::path& link, const struct stat& info) {
    if (!trust_.Owns(link, info)) {
      return Error(StatusCode::kIoError,
                   "{}, above {}, is a symbolic link of user {}, who chose where it leads: give the place itself",
                   link.string(), path_.string(), info.st_uid);
    }
    std::error_code error;
    const fs::path target = fs::read_symlink(link, error);
    if (error || links_left_-- == 0) {
      return Error(StatusCode::kIoError, "can't follow the link {}: {}", link.string(),
                   error ? error.message() : "there are too many on the way");
    }
    if (target.is_absolute()) at_ = target.root_path();
    Queue(target);
    return Status::Ok();
  }

  const fs::path& path_;
  LastName last_;
  MissingFolders missing_;
  const Trust& trust_;
  fs::path at_;                 // without links
  std::deque<fs::path> names_;  // still to be looked up
  int links_left_ = kMostLinks;
  int missing_left_ = kMostMissing;
};

}  // namespace

Result<Trust> Trust::OfEnvironment() {
  const std::string text(EnvironmentVariable(kTrustVariable));
  Trust trust;
  constexpr std::string_view kGroup = "group:";
  if (text.starts_with(kGroup)) {
    HEARTH_ASSIGN(trust.group, GroupNamed(text.substr(kGroup.size())));
  } else if (text == "everyone") {
    trust.everyone = true;
  } else if (!text.empty() && text != "owner") {
    return Error(StatusCode::kInvalidArgument, "{} is '{}', none of owner, group:NAME, group:NUMBER, everyone",
                 kTrustVariable, text);
  }
  return trust;
}

bool Trust::Owns(const fs::path& path, const struct stat& info) const {
  if (IsOursOrRoots(info.st_uid) || everyone) return true;
  struct stat above;
  const fs::path folder = path.parent_path();
  return group == info.st_gid && ::lstat(folder.c_str(), &above) == 0 && !OthersMayWrite(folder, above, *this);
}

bool OthersMayWrite(const fs::path& path, const struct stat& info, const Trust& trust) {
  if (trust.everyone) return false;
  if ((info.st_mode & S_IWOTH) != 0) return true;
  if ((info.st_mode & S_IWGRP) == 0) return false;
  return HasAccessList(path) || (trust.group != info.st_gid && !IsPrivateGroup(info.st_gid, info.st_uid));
}

bool IsOursOrRoots(uid_t owner) {
  return owner == 0 || owner == ::geteuid();
}

Status MakeFolder(const fs::path& folder, const Trust& trust) {
  return MakeFolderOf(folder, trust.group, trust.everyone ? 0777 : trust.group ? 02770 : 0700);
}

Result<fs::path> TrustedPath(const fs::path& wanted, LastName last, MissingFolders missing, const Trust& trust) {
  std::error_code error;
  fs::path absolute = fs::absolute(wanted, error);
  if (error) return Error(StatusCode::kIoError, "{}: {}", wanted.string(), error.message());
  // "a/b/" and "a/b/." mean "a/b". ".." leaves the folder that a link before it leads to, as for the kernel.
  while (absolute.has_relative_path() && (!absolute.has_filename() || absolute.filename() == ".")) {
    absolute = absolute.parent_path();
  }
  return TrustedWalk(absolute, last, missing, trust).Run();
}

Result<fs::path> PlaceOfNewFile(const fs::path& wanted, std::string_view what) {
  if (!wanted.has_filename() || wanted.filename() == ".") {
    return Error(StatusCode::kIoError, "can't make the {} {}: that is the name of a folder", what, wanted.string());
  }
  Result<fs::path> place = TrustedPath(wanted);
  if (place.status().code() == StatusCode::kNotFound) {
    return Error(StatusCode::kIoError, "can't make the {} {}: there is no folder {}", what, wanted.string(),
                 wanted.parent_path().string());
  }
  if (!place.ok()) return place.status().Within(fmt::format("can't make the {}", what));
  return place;
}

bool OnlyRootMayWrite(const fs::path& path) {
  std::error_code error;
  int listed = 0;
  if (fs::symlink_status(path, error).type() != fs::file_type::regular) {
    for (auto entry = fs::directory_iterator(path, error); !error && entry != fs::directory_iterator();
         entry.increment(error)) {
      if (!IsRootsAlone(entry->path()) || ++listed == kMostEntries) return false;
    }
    if (error) return false;
  }
  for (fs::path part = path;; part = part.parent_path()) {
    if (!IsRootsAlone(part)) return false;
    if (part == part.root_path()) return true;
  }
}

}  // namespace hearth
