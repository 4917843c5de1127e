#include "cache/files/folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "cache/files/trusted_path.h"
#include "core/base/blocked_signal.h"
#include "core/base/environment.h"
#include "core/base/error.h"
#include "core/base/file_stamp.h"
#include "core/base/text.h"

namespace hearth {
namespace {

namespace fs = std::filesystem;

constexpr double kFolderPollMs = 1;
constexpr int kMostListed = 1 << 16;  // names of one folder
constexpr size_t kMostFound = 1024;
// A cache takes up to 8, PoCL 3, and PoCL ends the process where it gets none once it is open.
constexpr int kLeastDescriptors = 24;

Status SystemError(const char* what, const fs::path& path, int error) {
  return Error(StatusCode::kIoError, "{} {}: {}", what, path.string(), std::strerror(error));
}

// sqlite's own limit for a file's path is 512; the rest is for names such as hearth-10.db.cleared-journal.
constexpr size_t kMostFolderBytes = 460;

Descriptor OpenLockFile(const fs::path& folder, int more_flags) {
  return OpenFileIn(folder, kLockFileName, O_RDWR | more_flags);
}

Status CheckLength(const fs::path& folder) {
  if (folder.native().size() <= kMostFolderBytes) return Status::Ok();
  return Error(StatusCode::kInvalidArgument,
               "the cache folder's path is too long for sqlite ({} bytes, at most {}): choose a shorter one: {}",
               folder.native().size(), kMostFolderBytes, folder.string());
}

// Root's are for layers alone: nobody else could write there, unless others are trusted.
bool OwnerIsTrusted(const fs::path& path, const struct stat& info, FolderUse use, const Trust& trust) {
  const bool is_shared = trust.everyone || trust.group == info.st_gid;
  return use == FolderUse::kReadOnlyLayer || is_shared ? trust.Owns(path, info) : info.st_uid == ::geteuid();
}

// Checks `folder` itself; there is no alternative folder.
Status CheckFolder(const fs::path& folder, const struct stat& info, FolderUse use, const Trust& trust) {
  if (!OwnerIsTrusted(folder, info, use, trust)) {
    return Error(StatusCode::kIoError, "cache folder {} belongs to user {}, not to user {}: choose another folder",
                 folder.string(), info.st_uid, ::geteuid());
  }
  if (OthersMayWrite(folder, info, trust)) {
    return Error(StatusCode::kIoError,
                 "cache folder {} may be written by other users, who could plant driver code there: "
                 "'chmod go-w' it after checking what it holds, choose another folder, or name those whom you trust "
                 "(HEARTH_CACHE_TRUST)",
                 folder.string());
  }
  const bool is_shared =
      use != FolderUse::kReadOnlyLayer && trust.group == info.st_gid && (info.st_mode & S_IRWXG) != 0;
  if (is_shared && (info.st_mode & S_ISGID) == 0 && ::geteuid() != 0 && ::getegid() != info.st_gid) {
    return Error(StatusCode::kIoError,
                 "cache folder {} does not give its group {} to the files that sqlite makes, which other members could "
                 "not read: 'chmod g+s' it",
                 folder.string(), info.st_gid);
  }
  return Status::Ok();
}

// Whether it exists, or can be made.
bool CanBeUsed(const fs::path& folder) {
  std::error_code ignored;
  if (fs::exists(folder, ignored)) return true;
  fs::path above = folder.parent_path();
  while (!fs::exists(above, ignored) && above.has_relative_path()) above = above.parent_path();
  return ::access(above.c_str(), W_OK | X_OK) == 0;
}

Result<struct stat> FolderInfo(const fs::path& folder) {
  struct stat info;
  if (::lstat(folder.c_str(), &info) != 0) {
    if (errno == ENOENT) return Error(StatusCode::kNotFound, "there is no cache folder {}", folder.string());
    return SystemError("can't examine the cache folder", folder, errno);
  }
  if (S_ISLNK(info.st_mode)) {
    return Error(StatusCode::kIoError, "cache folder {} is a symbolic link: give the folder that it points to",
                 folder.string());
  }
  if (!S_ISDIR(info.st_mode)) return Error(StatusCode::kIoError, "cache folder {} is not a folder", folder.string());
  return info;
}

// A shell replaces the `~` of a command; the files that services and containers are described by keep it.
Result<fs::path> InHome(std::string_view given) {
  const std::string_view home = EnvironmentVariable("HOME");
  if (!given.starts_with('~')) return fs::path(given);
  const std::string_view rest = given.substr(1);
  if (!home.empty() && (rest.empty() || rest.starts_with('/'))) return fs::path(std::string(home).append(rest));
  return Error(StatusCode::kInvalidArgument,
               "HEARTH_CACHE_DIR is '{}': '~' is known only as $HOME, alone or before a '/': give the whole path",
               given);
}

}  // namespace

Result<fs::path> DefaultCacheFolder() {
  if (const std::string_view given = EnvironmentVariable("HEARTH_CACHE_DIR"); !given.empty()) return InHome(given);
  // The XDG base directory specification says to ignore relative values.
  if (const std::string_view xdg = EnvironmentVariable("XDG_CACHE_HOME"); xdg.starts_with('/'))
    return fs::path(xdg) / "hearth";
  const std::string_view home = EnvironmentVariable("HOME");
  const fs::path own = home.empty() ? fs::path() : fs::path(home) / ".cache" / "hearth";
  if (!own.empty() && CanBeUsed(own)) return own;
  for (const char* shared : {"/var/tmp", "/tmp"}) {
    if (::access(shared, W_OK | X_OK) == 0) return fs::path(shared) / fmt::format("hearth-{}", ::geteuid());
  }
  if (!own.empty()) return own;
  return Error(StatusCode::kNotFound,
               "the cache has no folder, because HOME is not set: set HEARTH_CACHE_DIR or name a folder with --cache");
}

std::vector<fs::path> DefaultCacheLayers() {
  const std::vector<std::string> layers = PathsInList(EnvironmentVariable("HEARTH_CACHE_LAYERS"));
  return {layers.begin(), layers.end()};
}

std::string DefaultCacheLayerKeys() {
  return std::string(EnvironmentVariable("HEARTH_CACHE_LAYER_KEYS"));
}

Result<uint64_t> DefaultCacheMaxBytes() {
  const std::string_view text = EnvironmentVariable("HEARTH_CACHE_MAX_SIZE");
  if (text.empty()) return kUsualCacheBytes;
  return ParseSizeBytes(text);
}

CacheServer DefaultCacheServer() {
  return {std::string(EnvironmentVariable("HEARTH_CACHE_SERVER")),
          std::string(EnvironmentVariable("HEARTH_CACHE_SERVER_KEYS")),
          std::string(EnvironmentVariable("HEARTH_CACHE_SERVER_SIGN"))};
}

Result<fs::path> PrepareFolder(const fs::path& wanted, FolderUse use) {
  if (wanted.empty()) return Error(StatusCode::kInvalidArgument, "the cache folder's name is empty");
  const bool is_made = use == FolderUse::kCreate;
  if (use != FolderUse::kReadOnlyLayer) HEARTH_TRY(CheckLength(wanted));  // before folders above it are made
  HEARTH_ASSIGN(const Trust trust, Trust::OfEnvironment());
  const MissingFolders missing = is_made ? MissingFolders::kAreMade : MissingFolders::kAreErrors;
  HEARTH_ASSIGN(fs::path folder, TrustedPath(wanted, LastName::kKept, missing, trust));
  if (use != FolderUse::kReadOnlyLayer) HEARTH_TRY(CheckLength(folder));
  if (is_made) HEARTH_TRY(MakeFolder(folder, trust));
  HEARTH_ASSIGN(const struct stat info, FolderInfo(folder));

  // Whomever one trusts: the sticky bit keeps each user's files to himself.
  const bool shared = (info.st_mode & S_ISVTX) != 0 && OthersMayWrite(folder, info);
  if (!shared || use == FolderUse::kReadOnlyLayer) {
    HEARTH_TRY(CheckFolder(folder, info, use, trust));
    return folder;
  }
  if (!IsOursOrRoots(info.st_uid)) {  // the sticky bit does not bind the owner
    return Error(StatusCode::kIoError, "cache folder {} belongs to user {}: choose another folder", folder.string(),
                 info.st_uid);
  }
  folder /= "hearth-" + std::to_string(::geteuid());
  if (is_made) HEARTH_TRY(MakeFolder(folder));
  HEARTH_ASSIGN(const struct stat inner, FolderInfo(folder));
  HEARTH_TRY(CheckFolder(folder, inner, use, {}));
  return folder;
}

Status CheckDescriptorsLeft() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return Status::Ok();
  int left = 0;
  // The system gives the lowest number that is free.
  for (auto number = static_cast<int>(std::min<rlim_t>(limit.rlim_cur, 1 << 30)); --number >= 0;) {
    if (::fcntl(number, F_GETFD) < 0 && ++left == kLeastDescriptors) return Status::Ok();
  }
  return Error(StatusCode::kUnavailable,
               "this process may open only {} more files, which its drivers need: raise the limit (`ulimit -n`)", left);
}

Result<FileIdentity> CheckStoreFile(const fs::path& file, FolderUse use) {
  struct stat info;
  if (::lstat(file.c_str(), &info) != 0) {
    if (errno == ENOENT) return Error(StatusCode::kNotFound, "there is no {}", file.string());
    return SystemError("can't examine", file, errno);
  }
  if (S_ISLNK(info.st_mode)) {
    return Error(StatusCode::kIoError, "{} is a symbolic link, which is not followed: remove it", file.string());
  }
  if (!S_ISREG(info.st_mode)) return Error(StatusCode::kIoError, "{} is not a file: remove it", file.string());
  HEARTH_ASSIGN(const Trust trust, Trust::OfEnvironment());
  if (!OwnerIsTrusted(file, info, use, trust)) {
    return Error(StatusCode::kIoError, "{} belongs to user {}, not to user {}: remove it or choose another folder",
                 file.string(), info.st_uid, ::geteuid());
  }
  if (OthersMayWrite(file, info, trust)) {
    return Error(StatusCode::kIoError, "{} may be written by other users, who could plant driver code there: remove it",
                 file.string());
  }
  return FileIdentity{static_cast<uint64_t>(info.st_dev), static_cast<uint64_t>(info.st_ino), info.st_uid};
}

Result<OpenedFile> OpenBundlePart(const fs::path& file) {
  HEARTH_ASSIGN(const FileIdentity checked, CheckStoreFile(file, FolderUse::kReadOnlyLayer));
  Descriptor descriptor(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat info;
  if (!descriptor.is_open() || ::fstat(descriptor.get(), &info) != 0) return SystemError("can't read", file, errno);
  const FileIdentity opened{static_cast<uint64_t>(info.st_dev), static_cast<uint64_t>(info.st_ino), info.st_uid};
  if (opened != checked || !S_ISREG(info.st_mode)) {
    return Error(StatusCode::kIoError, "{} was replaced by another file while it was opened", file.string());
  }
  return OpenedFile{std::move(descriptor), static_cast<uint64_t>(info.st_size)};
}

Descriptor OpenFileIn(const fs::path& folder, const std::string& name, int flags) {
  Descriptor file(::open((folder / name).c_str(), flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600));
  if (file.is_open() && (flags & O_CREAT) != 0) ShareFile(file, folder);
  return file;
}

void ShareFile(const Descriptor& file, const fs::path& folder) {
  const Result<Trust> trust = Trust::OfEnvironment();
  struct stat info, above;
  if (!trust.ok() || (!trust->everyone && !trust->group)) return;
  if (::fstat(file.get(), &info) != 0 || ::lstat(folder.c_str(), &above) != 0 || info.st_uid != ::geteuid()) return;
  // As the folder is: its owner has not shared it otherwise.
  const mode_t mode = 0600 | (above.st_mode & (trust->everyone ? 0066 : 0060));
  if ((info.st_mode & 0777) == mode) return;
  if (trust->group && info.st_gid != *trust->group && ::fchown(file.get(), static_cast<uid_t>(-1), *trust->group) != 0)
    return;
  static_cast<void>(::fchmod(file.get(), mode));
}

std::vector<fs::path> FilesIn(const fs::path& folder, std::string_view prefix) {
  std::vector<fs::path> files;
  const std::unique_ptr<DIR, int (*)(DIR*)> listing(::opendir(folder.c_str()), ::closedir);
  if (listing == nullptr) return files;
  for (int listed = 0; listed < kMostListed && files.size() < kMostFound; ++listed) {
    const dirent* const entry = ::readdir(listing.get());
    if (entry == nullptr) break;
    if (std::string_view(entry->d_name).starts_with(prefix)) files.push_back(folder / entry->d_name);
  }
  return files;
}

Status ReadExactly(const Descriptor& descriptor, uint64_t at, std::span<std::byte> bytes) {
  int interruptions = 0;
  while (!bytes.empty()) {
    const ssize_t count = ::pread(descriptor.get(), bytes.data(), bytes.size(), static_cast<off_t>(at));
    if (count < 0 && errno == EINTR && ++interruptions < kMostInterruptions) continue;
    if (count < 0) return Error(StatusCode::kIoError, "{}", std::strerror(errno));
    if (count == 0) return Error(StatusCode::kIoError, "it is cut off");
    bytes = bytes.subspan(static_cast<size_t>(count));
    at += static_cast<uint64_t>(count);
  }
  return Status::Ok();
}

FileIdentity IdentityOf(const fs::path& file) {
  struct stat info;
  if (::lstat(file.c_str(), &info) != 0) return {};
  return {static_cast<uint64_t>(info.st_dev), static_cast<uint64_t>(info.st_ino), info.st_uid};
}

bool HasLocks(const fs::path& folder) {
  const Descriptor descriptor = OpenLockFile(folder, 0);
  struct flock anything = {};
  anything.l_type = F_WRLCK;
  // Asks with the same call that sqlite uses, without taking a lock.
  return !descriptor.is_open() || ::fcntl(descriptor.get(), F_GETLK, &anything) == 0;
}

// A file without a name is made, because no other call tells what a user's quota leaves.
Lack LackIn(const fs::path& folder) {
  const Descriptor probe(::open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600));
  if (!probe.is_open() && (errno == ENOSPC || errno == EDQUOT)) return errno == EDQUOT ? Lack::kQuota : Lack::kInodes;
  if (!probe.is_open()) {  // no such files here
    struct statvfs disk = {};
    const bool has_inodes = ::statvfs(folder.c_str(), &disk) != 0 || disk.f_files == 0 || disk.f_favail > 0;
    return has_inodes ? Lack::kNothing : Lack::kInodes;
  }
  const BlockedSizeSignal held;
  const std::array<char, 4096> page = {};
  if (::write(probe.get(), page.data(), page.size()) == static_cast<ssize_t>(page.size())) return Lack::kNothing;
  return errno == EDQUOT ? Lack::kQuota : errno == ENOSPC ? Lack::kSpace : Lack::kNothing;
}

std::string FullDiskText(const fs::path& folder, int error) {
  switch (error == EDQUOT ? Lack::kQuota : LackIn(folder)) {
    case Lack::kQuota: return "this user's quota of the disk is used up: remove files of this user there";
    case Lack::kInodes: return "the disk is full: it has no inode for one more file: remove files there";
    case Lack::kNothing:
      // What has no room for a side file may have it for the page that was tried, unless no file can be made at all.
      if (error == 0 && ::access(folder.c_str(), W_OK | X_OK) != 0) {
        return fmt::format("the folder can't be written: `chmod u+rwx '{}'`", folder.string());
      }
      break;
    case Lack::kSpace: break;
  }
  return "the disk is full: make room there";
}

Status NoLocksIn(const fs::path& folder) {
  return Error(StatusCode::kIoError,
               "{} is on a file system without locks, so nothing can be stored there: name a folder on a local disk "
               "(--cache-folder, HEARTH_CACHE_DIR)",
               folder.string());
}

Result<FolderLock> FolderLock::Take(const fs::path& folder, Mode mode, WaitBudget& waits) {
  const fs::path file = folder / kLockFileName;
  Descriptor descriptor = OpenLockFile(folder, O_CREAT);
  if (!descriptor.is_open()) return FolderLock(std::move(descriptor));
  const int operation = (mode == Mode::kShared ? LOCK_SH : LOCK_EX) | LOCK_NB;
  while (::flock(descriptor.get(), operation) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) break;  // the file system has no locks
    if (!waits.Sleep(kFolderPollMs)) {
      return Error(StatusCode::kUnavailable, "another process keeps {} locked (waited {:.0f} ms)", file.string(),
                   waits.waited_ms());
    }
  }
  return FolderLock(std::move(descriptor));
}

bool SupportsWriteAheadLog(const fs::path& folder) {
  struct statfs info;
  if (::statfs(folder.c_str(), &info) != 0) return false;
  return !IsOnRemoteFileSystem(info.f_type);
}

}  // namespace hearth
