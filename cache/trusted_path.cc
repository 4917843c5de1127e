#include "cache/trusted_path.h"

#include <grp.h>
#include <pwd.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "core/base/error.h"

namespace hearth {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxRecordBytes = 1 << 16;

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

}  // namespace

bool OthersMayWrite(const fs::path& path, const struct stat& info) {
  if ((info.st_mode & S_IWOTH) != 0) return true;
  if ((info.st_mode & S_IWGRP) == 0) return false;
  return HasAccessList(path) || !IsPrivateGroup(info.st_gid, info.st_uid);
}

Status CheckParents(const fs::path& path) {
  for (fs::path parent = path.parent_path();; parent = parent.parent_path()) {
    struct stat info;
    if (::lstat(parent.c_str(), &info) != 0) {
      return Error(StatusCode::kIoError, "can't examine {}: {}", parent.string(), std::strerror(errno));
    }
    if (info.st_uid != 0 && info.st_uid != ::geteuid()) {
      return Error(StatusCode::kIoError, "{}, above {}, belongs to user {}, who could replace it: choose another place",
                   parent.string(), path.string(), info.st_uid);
    }
    if ((info.st_mode & S_ISVTX) == 0 && OthersMayWrite(parent, info)) {
      return Error(
          StatusCode::kIoError,
          "{}, above {}, may be written by other users, who could replace it: 'chmod go-w' it, or choose another place",
          parent.string(), path.string());
    }
    if (parent == parent.root_path()) return Status::Ok();
  }
}

bool OnlyRootMayWrite(const fs::path& path) {
  std::error_code error;
  if (fs::symlink_status(path, error).type() != fs::file_type::regular) {
    for (auto entry = fs::directory_iterator(path, error); !error && entry != fs::directory_iterator();
         entry.increment(error)) {
      if (!IsRootsAlone(entry->path())) return false;
    }
    if (error) return false;
  }
  for (fs::path part = path;; part = part.parent_path()) {
    if (!IsRootsAlone(part)) return false;
    if (part == part.root_path()) return true;
  }
}

}  // namespace hearth
