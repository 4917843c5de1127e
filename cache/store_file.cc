#include "cache/store_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <system_error>

#include "cache/leftover.h"
#include "core/base/embedded_file.h"

namespace hearth {

extern const EmbeddedFile kCacheSchema[];  // schema.sql

namespace {

namespace fs = std::filesystem;

constexpr int64_t kApplicationId = 0x48525448;  // "HRTH"
constexpr int64_t kFormatNumber = 1;            // raise it whenever schema.sql changes

// What the header holds for a format: the number, and above it its complement. Otherwise one damaged bit would be a
// newer Hearth's store, which is never replaced.
constexpr int64_t FormatStamp(int64_t number) {
  return (~number & 0x7fff) << 16 | number;
}

// What each connection wants. mmap stays off: it gains 0.2 of 3.2 ms, and a file cut short by somebody
// else would then be a SIGBUS instead of an error. The small page cache is enough for blobs that are read once.
constexpr const char* kSettings =
    "PRAGMA synchronous=NORMAL; PRAGMA cache_size=-256; PRAGMA mmap_size=0; PRAGMA secure_delete=OFF;"
    "PRAGMA cell_size_check=ON; PRAGMA temp_store=MEMORY; PRAGMA wal_autocheckpoint=1000;"
    "PRAGMA journal_size_limit=4194304;";

Status CheckFormat(Database& database) {
  HEARTH_ASSIGN(const int64_t stamp, database.Number("PRAGMA user_version"));
  HEARTH_ASSIGN(const int64_t application, database.Number("PRAGMA application_id"));
  if (stamp == 0 && application == 0) {
    HEARTH_ASSIGN(const int64_t objects, database.Number("SELECT count(*) FROM sqlite_schema"));
    if (objects == 0) return Error(StatusCode::kNotFound, "the store was never filled");
  }
  if (application != kApplicationId) return Error(StatusCode::kMalformedInput, "it is another program's database");
  const int64_t format = stamp & 0x7fff;
  if (stamp != FormatStamp(format)) return Error(StatusCode::kMalformedInput, "its format number is damaged");
  if (format > kFormatNumber) {
    return Error(StatusCode::kUnsupported,
                 "it was made by a newer Hearth (format {}, this one knows {}): choose another folder or remove it",
                 format, kFormatNumber);
  }
  if (format < kFormatNumber) return Error(StatusCode::kMalformedInput, "it has the old format {}", format);
  const Result<Statement> all = database.Prepare(
      "SELECT e.id, e.digest, e.kind, e.material, e.size_bytes, e.checksum, e.cost_ms, e.created_ms, e.last_used_ms,"
      " b.id, b.bytes, q.digest, q.checksum, q.strikes, c.name, c.value"
      " FROM entries e, blobs b, quarantine q, counters c");
  return all.status().Within("its tables are not those of the store");
}

Result<Database> OpenWith(const fs::path& file, Database::Access access, WaitBudget& waits) {
  HEARTH_ASSIGN(Database database, Database::Open(file, access));
  database.SetWaits(&waits);
  const bool may_be_written = !database.read_only();
  HEARTH_TRY(database.Run(kSettings));
  HEARTH_TRY(CheckFormat(database));
  // sqlite only reads a file whose header names a later way of writing, which no sqlite has ever had.
  if (may_be_written && database.read_only()) return Error(StatusCode::kMalformedInput, "its header forbids writing");
  return database;
}

Result<Database> OpenChecked(const StoreOptions& options, WaitBudget& waits, bool read_only) {
  const fs::path file = options.folder / kStoreFileName;
  HEARTH_TRY(CheckStoreFile(file, read_only ? FolderUse::kReadOnlyLayer : FolderUse::kExisting));
  std::error_code error;
  if (fs::file_size(file, error) == 0 && !error) return Error(StatusCode::kNotFound, "{} is empty", file.string());
  // A log beside it says that somebody writes it after all.
  const bool immutable = options.immutable && !fs::exists(file.string() + "-wal", error);
  const auto access = !read_only  ? Database::Access::kReadWrite
                      : immutable ? Database::Access::kImmutable
                                  : Database::Access::kReadOnly;
  Result<Database> opened = OpenWith(file, access, waits);
  const bool is_disk_full = opened.status().code() == StatusCode::kResourceExhausted;
  if (is_disk_full || (opened.status().code() == StatusCode::kIoError && read_only)) {
    // A write-ahead log needs a side file that can't be made here. Without it the last checkpoint is seen.
    Result<Database> last_checkpoint = OpenWith(file, Database::Access::kImmutable, waits);
    if (last_checkpoint.ok()) return last_checkpoint;
  }
  if (!opened.ok()) return opened.status().Within(file.string());
  if (!read_only && !SupportsWriteAheadLog(options.folder)) {
    HEARTH_TRY(opened->Run("PRAGMA journal_mode=DELETE").Within(file.string()));
  }
  return opened;
}

// Under the exclusive lock.
Status MakeFile(const StoreOptions& options, WaitBudget& waits) {
  const fs::path file = options.folder / kStoreFileName;
  const int descriptor = ::open(file.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (descriptor >= 0) ::close(descriptor);
  if (descriptor < 0 && errno != EEXIST) {  // EEXIST: the empty file of a process that died here
    return Error(StatusCode::kIoError, "it can't be made: {}", std::strerror(errno));
  }
  HEARTH_ASSIGN(Database database, Database::Open(file, Database::Access::kReadWrite));
  database.SetWaits(&waits);
  // Unsynced: nothing is lost yet, and a file spoilt by a power cut is replaced at the next start.
  HEARTH_TRY(database.Run(fmt::format("PRAGMA synchronous=OFF; PRAGMA page_size={}; PRAGMA auto_vacuum=INCREMENTAL;",
                                      options.page_size_bytes)));
  if (options.allow_write_ahead_log && SupportsWriteAheadLog(options.folder)) {
    // Where sqlite can't have it, it stays with the rollback journal and says so in the result.
    HEARTH_TRY(database.Run("PRAGMA journal_mode=WAL"));
  }
  HEARTH_ASSIGN(Transaction transaction, Transaction::Begin(database));
  HEARTH_TRY(database.Run(std::string(kCacheSchema[0].text)));
  HEARTH_TRY(database.Run(
      fmt::format("PRAGMA application_id={}; PRAGMA user_version={};", kApplicationId, FormatStamp(kFormatNumber))));
  return transaction.Commit();
}

void RemoveSideFiles(const fs::path& file) {
  for (const char* suffix : {"-wal", "-shm", "-journal"}) ::unlink((file.string() + suffix).c_str());
}

Status RenameDamaged(const fs::path& folder) {
  const fs::path file = folder / kStoreFileName;
  const fs::path kept = folder / (std::string(kStoreFileName) + ".damaged");
  if (::rename(file.c_str(), kept.c_str()) != 0 && ::unlink(file.c_str()) != 0) {
    return Error(StatusCode::kIoError, "can't move the damaged {} aside: {}", file.string(), std::strerror(errno));
  }
  // A log belongs to its file. sqlite drops one that lies beside an empty file; this does not rely on it.
  RemoveSideFiles(file);
  return Status::Ok();
}

bool CanWrite(const fs::path& folder) {
  return ::access(folder.c_str(), W_OK | X_OK) == 0;
}

}  // namespace

FileIdentity IdentityOf(const fs::path& file) {
  struct stat info;
  if (::lstat(file.c_str(), &info) != 0) return {};
  return {static_cast<uint64_t>(info.st_dev), static_cast<uint64_t>(info.st_ino)};
}

Result<Database> OpenStoreFileAsItIs(const StoreOptions& options, WaitBudget& waits) {
  if (options.read_only || !CanWrite(options.folder)) return OpenChecked(options, waits, true);
  // The lock keeps the file from being replaced between its opening and that of its side files.
  HEARTH_ASSIGN(const FolderLock lock, FolderLock::Take(options.folder, FolderLock::Mode::kShared, waits));
  return OpenChecked(options, waits, false);
}

Result<Database> OpenStoreFile(const StoreOptions& options, WaitBudget& waits, Warnings& warnings) {
  Result<Database> opened = OpenStoreFileAsItIs(options, waits);
  const StatusCode code = opened.status().code();
  if (opened.ok() || options.read_only || !(code == StatusCode::kNotFound || code == StatusCode::kMalformedInput)) {
    return opened;
  }
  HEARTH_ASSIGN(const FolderLock lock, FolderLock::Take(options.folder, FolderLock::Mode::kExclusive, waits));
  opened = OpenChecked(options, waits, false);  // somebody else may have been here first
  if (opened.ok()) return opened;
  if (opened.status().code() == StatusCode::kMalformedInput) {
    HEARTH_TRY(RenameDamaged(options.folder));
    warnings.Add("damaged",
                 fmt::format("the cache was damaged and starts anew; the old file is kept as {}.damaged ({})",
                             kStoreFileName, opened.status().message()));
  } else if (opened.status().code() != StatusCode::kNotFound) {
    return opened;
  }
  HEARTH_TRY(MakeFile(options, waits).Within((options.folder / kStoreFileName).string()));
  return OpenChecked(options, waits, false);
}

Result<Database> OpenWithoutSideFiles(const StoreOptions& options, WaitBudget& waits) {
  const fs::path file = options.folder / kStoreFileName;
  HEARTH_ASSIGN(const FolderLock lock, FolderLock::Take(options.folder, FolderLock::Mode::kExclusive, waits));
  HEARTH_TRY(CheckStoreFile(file, FolderUse::kExisting));
  HEARTH_ASSIGN(Database database, Database::Open(file, Database::Access::kReadWrite));
  database.SetWaits(&waits);
  // Before the first read: the log's index then lies in memory.
  HEARTH_TRY(database.Run("PRAGMA locking_mode=EXCLUSIVE"));
  HEARTH_TRY(database.Run(kSettings));
  HEARTH_TRY(CheckFormat(database).Within(file.string()));
  HEARTH_ASSIGN(const std::string mode, database.Text("PRAGMA journal_mode=MEMORY"));
  if (mode == "memory") return database;
  return Error(StatusCode::kUnavailable, "the disk is full and {} is in use: end the programs that use it, or clear it",
               file.string());
}

Status ReplaceStoreFile(const StoreOptions& options, WaitBudget& waits) {
  const fs::path file = options.folder / kStoreFileName;
  HEARTH_ASSIGN(const FolderLock lock, FolderLock::Take(options.folder, FolderLock::Mode::kExclusive, waits));
  if (::unlink(file.c_str()) != 0 && errno != ENOENT) {
    return Error(StatusCode::kIoError, "can't remove {}: {}", file.string(), std::strerror(errno));
  }
  RemoveSideFiles(file);
  RemoveLeftovers(options.folder);
  // A disk that is full all the same takes none: a folder without a file is an empty store too.
  static_cast<void>(MakeFile(options, waits));
  return Status::Ok();
}

Status MoveAside(const StoreOptions& options, WaitBudget& waits, const FileIdentity& expected) {
  HEARTH_ASSIGN(const FolderLock lock, FolderLock::Take(options.folder, FolderLock::Mode::kExclusive, waits));
  if (IdentityOf(options.folder / kStoreFileName) != expected) return Status::Ok();
  return RenameDamaged(options.folder);
}

}  // namespace hearth
