// The cache's folder and its permissions. A store holds code that drivers execute, so a folder or file that another
// user could have written is refused, never repaired.
#ifndef HEARTH_CACHE_FILES_FOLDER_H_
#define HEARTH_CACHE_FILES_FOLDER_H_

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cache/files/wait_budget.h"
#include "core/base/descriptor.h"
#include "hearth/cache_types.h"
#include "hearth/status.h"

namespace hearth {

inline constexpr const char* kStoreFileName = "hearth.db";
inline constexpr const char* kLockFileName = "hearth.lock";

// $HEARTH_CACHE_DIR, else $XDG_CACHE_HOME/hearth, else ~/.cache/hearth, else, without a home that can be written,
// hearth-<uid> in /var/tmp or /tmp. Changes nothing. A `~` before the first '/' is $HOME. kNotFound if none of these
// can be, kInvalidArgument for another user's `~`.
Result<std::filesystem::path> DefaultCacheFolder();

// $HEARTH_CACHE_LAYERS: folders of read-only layers, separated by ':', in the order of look-up.
std::vector<std::filesystem::path> DefaultCacheLayers();

// $HEARTH_CACHE_LAYER_KEYS: the file of the public keys whose layers are used; may be empty.
std::string DefaultCacheLayerKeys();

inline constexpr uint64_t kUsualCacheBytes = uint64_t{1} << 30;
// $HEARTH_CACHE_MAX_SIZE ("512M"), else 1 GiB. kInvalidArgument if it is not a size.
Result<uint64_t> DefaultCacheMaxBytes();

// $HEARTH_CACHE_SERVER, $HEARTH_CACHE_SERVER_KEYS, $HEARTH_CACHE_SERVER_SIGN.
CacheServer DefaultCacheServer();

enum class FolderUse {
  kCreate,         // made if it is missing (trusted_path.h)
  kExisting,       // kNotFound if it is missing
  kReadOnlyLayer,  // must exist; may belong to root
};

// The folder to use for `wanted`, absolute and without symbolic links. It is `wanted` itself if that is ours and nobody
// whom Trust::OfEnvironment does not name may write to it or to a folder above it (trusted_path.h). It is
// `wanted`/hearth-<uid> (mode 0700) if `wanted` has the sticky bit and others may write to it, like /tmp. Links above
// `wanted` are resolved. kIoError says why a folder was refused.
Result<std::filesystem::path> PrepareFolder(const std::filesystem::path& wanted, FolderUse use = FolderUse::kCreate);

// kUnavailable if the process may open so few files more that a driver, which is opened after a cache, could lack them.
Status CheckDescriptorsLeft();

// Tells a file from one that replaced it.
struct FileIdentity {
  uint64_t device = 0, inode = 0;
  uint32_t owner = 0;
  friend bool operator==(const FileIdentity&, const FileIdentity&) = default;
};
FileIdentity IdentityOf(const std::filesystem::path& file);  // zeros if it does not exist

// Checks whether a store file may be opened: a regular file, ours (or root's in a read-only layer), and not writable by
// others, but for those whom the environment trusts. kNotFound if it does not exist. Opens nothing: closing a second
// descriptor of a file drops sqlite's locks on it.
Result<FileIdentity> CheckStoreFile(const std::filesystem::path& file, FolderUse use);

// Opens a file of the cache's folder, without following a link or waiting for a pipe. With O_CREAT it is this user's
// alone, or shared as ShareFile says.
Descriptor OpenFileIn(const std::filesystem::path& folder, const std::string& name, int flags);

// Lets those whom the environment trusts read and write this user's new file in `folder`, if they may write there.
void ShareFile(const Descriptor& file, const std::filesystem::path& folder);

struct OpenedFile {
  Descriptor descriptor;
  uint64_t size_bytes = 0;
};
// Opens a part of a bundle for reading, under the rules of read-only layers. It follows no link and opens only regular
// files, so it never waits for a pipe. Not for a database: see above. kNotFound if it does not exist.
Result<OpenedFile> OpenBundlePart(const std::filesystem::path& file);

inline constexpr int kMostInterruptions = 1000;  // of one call's reads or writes; a broken mount reports nothing else

// Reads the bytes from `at` on. kIoError if the file is too short, because somebody truncated it.
Status ReadExactly(const Descriptor& descriptor, uint64_t at, std::span<std::byte> bytes);

// A lock between processes on `folder`/hearth.lock (flock), released by the destructor or the end of the process.
// Openers share it; making or replacing the store file needs it exclusively.
class FolderLock {
 public:
  enum class Mode { kShared, kExclusive };
  // kUnavailable if the budget is spent. Where locks do not exist (a read-only folder, some network file systems) it
  // returns an empty lock.
  static Result<FolderLock> Take(const std::filesystem::path& folder, Mode mode, WaitBudget& waits);

 private:
  explicit FolderLock(Descriptor descriptor) : descriptor_(std::move(descriptor)) {}
  Descriptor descriptor_;
};

// The files in `folder` whose names begin with `prefix`, none if it can't be read. Of a folder with very many, which a
// broken file system may list for ever, some are left out.
std::vector<std::filesystem::path> FilesIn(const std::filesystem::path& folder, std::string_view prefix);

// False if the file system has no locks, like NFS without its lock service: sqlite would take the failure for a held
// lock and wait. Tested with hearth.lock; true if that does not exist yet.
bool HasLocks(const std::filesystem::path& folder);
// What keeps the folder from taking one more file of a page.
enum class Lack : uint8_t { kNothing, kSpace, kInodes, kQuota };
Lack LackIn(const std::filesystem::path& folder);
// Of a disk that took no more, with the system's error number if it is known: what is used up, or that the folder's
// permissions are the reason, and what to do.
std::string FullDiskText(const std::filesystem::path& folder, int error = 0);
// Why nothing can be stored there, and what to do.
Status NoLocksIn(const std::filesystem::path& folder);

// False on network and user-space file systems, which don't reliably share memory between processes, as sqlite's
// write-ahead log needs.
bool SupportsWriteAheadLog(const std::filesystem::path& folder);

}  // namespace hearth

#endif  // HEARTH_CACHE_FILES_FOLDER_H_
