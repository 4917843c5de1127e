#include "cache/store/store_file.h"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string>
#include <system_error>

#include "cache/files/locked_file.h"
#include "cache/files/store_names.h"
#include "cache/store/entry_row.h"
#include "core/store/entry_source.h"

namespace hearth {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kApplicationId = 0x48525448;  // "HRTH"
constexpr int kOtherFormatsDays = 7;            // stores of other formats that are unused for so long are removed
constexpr int64_t kFormatNumber = 4;            // raise it whenever schema.sql changes

// A format's number in the header, and its complement above it. Otherwise one damaged bit would make it the store of a
// newer Hearth, which is never replaced.
constexpr int64_t FormatStamp(int64_t number) {
  return (~number & 0x7fff) << 16 | number;
}

// The settings of each connection. mmap stays off: it saves 0.2 of 3.2 ms, and a truncated file would cause a SIGBUS
// instead of an error. The small page cache is enough for blobs that are read once.
constexpr const char* kSettings =
    "PRAGMA synchronous=NORMAL; PRAGMA cache_size=-256; PRAGMA mmap_size=0; PRAGMA secure_delete=OFF;"
    "PRAGMA cell_size_check=ON; PRAGMA temp_store=MEMORY; PRAGMA wal_autocheckpoint=1000;"
    "PRAGMA journal_size_limit=4194304;";

// The most that one statement does and one value takes until the format is known; the check does a hundredth of that.
// sqlite reads all tables' definitions first, and few pages of a foreign file can pretend to hold any number of any
// length.
constexpr int kMostStepsToOpen = 20'000;
constexpr uint64_t kLongestDefinition = uint64_t{64} << 10;

// Sets `format` if the file tells it.
Status CheckFormat(Database& database, int64_t& format) {
  HEARTH_ASSIGN(const int64_t stamp, database.Number("PRAGMA user_version"));
  HEARTH_ASSIGN(const int64_t application, database.Number("PRAGMA application_id"));
  if (stamp == 0 && application == 0) {
    HEARTH_ASSIGN(const int64_t objects, database.Number("SELECT count(name) FROM sqlite_schema"));
    if (objects == 0) return Error(StatusCode::kNotFound, "the store is empty");
  }
  if (application != kApplicationId) return Error(StatusCode::kMalformedInput, "it is another program's database");
  format = stamp & 0x7fff;
  if (stamp != FormatStamp(format)) return Error(StatusCode::kMalformedInput, "its format number is damaged");
  if (format != kFormatNumber) {
    return Error(StatusCode::kUnsupported, "it has format {}, of {} Hearth; this one reads format {}", format,
                 format > kFormatNumber ? "a newer" : "an older", kFormatNumber);
  }
  return CheckTables(database);
}

// What a new connection needs before its first look at a file that anybody may have made.
Status SetUpAndCheck(Database& database, int64_t& format) {
  database.SetMostSteps(kMostStepsToOpen);
  database.SetLongestRead(kLongestDefinition);
  HEARTH_TRY(database.Run(kSettings));
  HEARTH_TRY(CheckFormat(database, format));
  database.BoundByFileSize();
  database.SetLongestRead(kMaxMaterialBytes);  // blobs are read in place (OpenBlob), and nothing else is longer
  return Status::Ok();
}

Result<Database> OpenWith(const fs::path& file, Database::Access access, WaitBudget& waits, int64_t& format) {
  HEARTH_ASSIGN(Database database, Database::Open(file, access));
  database.SetWaits(&waits);
  const bool may_be_written = !database.read_only();
  HEARTH_TRY(SetUpAndCheck(database, format));
  // sqlite only reads a file whose header has a later write version, which no version of sqlite has ever used.
  if (may_be_written && database.read_only()) return Error(StatusCode::kMalformedInput, "its header forbids writing");
  return database;
}

// sqlite opens side files by their names. A pipe would block it, and one that others may write is as unsafe as such a
// store.
Status CheckSideFiles(const fs::path& file, FolderUse use) {
  for (const char* suffix : {"-wal", "-shm", "-journal"}) {
    const Status status = CheckStoreFile(file.string() + suffix, use).status();
    if (!status.ok() && status.code() != StatusCode::kNotFound) return status;
  }
  return Status::Ok();
}

Result<Database> OpenChecked(const StoreOptions& options, const fs::path& file, WaitBudget& waits, bool read_only,
                             int64_t& format) {
  HEARTH_ASSIGN(const FileIdentity checked,
                CheckStoreFile(file, read_only ? FolderUse::kReadOnlyLayer : FolderUse::kExisting));
  HEARTH_TRY(CheckSideFiles(file, read_only ? FolderUse::kReadOnlyLayer : FolderUse::kExisting));
  std::error_code error;
  if (fs::file_size(file, error) == 0 && !error) return Error(StatusCode::kNotFound, "{} is empty", file.string());
  // A log beside it means that somebody writes it after all.
  const bool immutable =
      read_only && (Database::IsForkedFromAUser() ||
                    (options.immutable && !fs::exists(file.string() + "-wal", error)) || !HasLocks(options.folder));
  const auto access = !read_only  ? Database::Access::kReadWrite
                      : immutable ? Database::Access::kImmutable
                                  : Database::Access::kReadOnly;
  Result<Database> opened = OpenWith(file, access, waits, format);
  const bool is_disk_full = opened.status().code() == StatusCode::kResourceExhausted;
  if (is_disk_full || (opened.status().code() == StatusCode::kIoError && read_only)) {
    // A write-ahead log needs a side file that can't be made here. The last checkpoint is read without it.
    Result<Database> last_checkpoint = OpenWith(file, Database::Access::kImmutable, waits, format);
    if (last_checkpoint.ok()) opened = std::move(last_checkpoint);
  }
  // Checks that the opened file is the checked one.
  if (opened.ok() && (opened->has_moved() || IdentityOf(file) != checked)) {
    return Error(StatusCode::kIoError, "{} was replaced by another file while it was opened", file.string());
  }
  if (!opened.ok()) return opened.status().Within(file.string());
  if (!opened->read_only() && !read_only && !SupportsWriteAheadLog(options.folder)) {
    HEARTH_TRY(opened->Run("PRAGMA journal_mode=DELETE").Within(file.string()));
  }
  return opened;
}

Status CantBeMade(const fs::path& folder) {
  const int error = errno;
  if (error == ENOSPC || error == EDQUOT) {
    return Error(StatusCode::kResourceExhausted, "it can't be made: {}", FullDiskText(folder, error));
  }
  return Error(StatusCode::kIoError, "it can't be made: {}", std::strerror(error));
}

Status MakeSecret(Database& database) {
  std::array<std::byte, kFingerprintSecretBytes> secret;
  if (::getrandom(secret.data(), secret.size(), 0) != static_cast<ssize_t>(secret.size())) {
    return Error(StatusCode::kIoError, "the system has no random numbers: {}", std::strerror(errno));
  }
  return database.RunWith("INSERT INTO counters VALUES('secret', ?)", secret);
}

// Call it under the exclusive lock. The file gets its name only when it is complete.
Status MakeFile(const StoreOptions& options, const fs::path& file, WaitBudget& waits,
                const KnownRevocations& revocations = {}) {
  const fs::path unfinished = file.string() + ".new";
  RemoveWithSideFiles(unfinished);
  if (!OpenFileIn(options.folder, unfinished.filename(), O_RDWR | O_CREAT | O_EXCL).is_open())
    return CantBeMade(options.folder);
  Status status = FillNewFile(options, unfinished, revocations, waits);
  RemoveSideFiles(file);  // of a file that a process removed before it died; they would be replayed into this one
  if (status.ok() && ::rename(unfinished.c_str(), file.c_str()) != 0) status = CantBeMade(options.folder);
  if (!status.ok()) RemoveWithSideFiles(unfinished);
  return status;
}

// hearth.db or, beside one of a newer Hearth, the file of this format. `opened` is about that file, `format` about
// hearth.db.
struct OwnFile {
  fs::path file;
  Result<Database> opened;
  int64_t format = 0;
};
OwnFile OpenOwnFile(const StoreOptions& options, WaitBudget& waits, bool read_only) {
  int64_t format = 0, format_beside = 0;
  const fs::path file = options.folder / kStoreFileName;
  Result<Database> opened = OpenChecked(options, file, waits, read_only, format);
  if (opened.status().code() != StatusCode::kUnsupported || format < kFormatNumber) {
    return {file, std::move(opened), format};
  }
  const fs::path beside = FileOfFormat(options.folder, kFormatNumber);
  Result<Database> own = OpenChecked(options, beside, waits, read_only, format_beside);
  // A layer is never changed, so its own format counts.
  if (read_only && own.status().code() == StatusCode::kNotFound) return {beside, std::move(opened), format};
  return {beside, std::move(own), format};
}

bool IsToBeMade(const OwnFile& own) {
  const StatusCode code = own.opened.status().code();
  const bool is_of_an_older_format = code == StatusCode::kUnsupported && own.format < kFormatNumber;
  return code == StatusCode::kNotFound || code == StatusCode::kMalformedInput || is_of_an_older_format;
}

// Another program may have changed the file's write version.
void RestoreLog(Database& database, const StoreOptions& options) {
  if (database.read_only() || !options.allow_write_ahead_log || !SupportsWriteAheadLog(options.folder)) return;
  const Result<std::string> mode = database.Text("PRAGMA journal_mode");
  if (mode.ok() && *mode != "wal") static_cast<void>(database.Text("PRAGMA journal_mode=WAL"));
}

// A full disk can still replace pages. Under a limit on file sizes nothing can be written beyond it, not even a
// rollback.
Status CheckMayWriteAll(const fs::path& file) {
  rlimit limit;
  std::error_code error;
  const uint64_t size_bytes = fs::file_size(file, error);
  if (error || ::getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur >= size_bytes) return Status::Ok();
  return Error(StatusCode::kIoError,
               "this process may write no more than {} bytes of a file, and {} has {}: raise its limit, `ulimit -f`",
               limit.rlim_cur, file.string(), size_bytes);
}

bool CanWrite(const fs::path& folder) {
  return ::access(folder.c_str(), W_OK | X_OK) == 0;
}

// Open for this process alone, with log and journal in memory. kUnavailable if others use it.
Result<Database> OpenAlone(const fs::path& file, WaitBudget& waits) {
  HEARTH_ASSIGN(Database database, Database::Open(file, Database::Access::kReadWrite));
  database.SetWaits(&waits);
  // Before the first read, so that the log's index is in memory.
  HEARTH_TRY(database.Run("PRAGMA locking_mode=EXCLUSIVE"));
  int64_t format = 0;
  HEARTH_TRY(SetUpAndCheck(database, format));
  HEARTH_ASSIGN(const std::string mode, database.Text("PRAGMA journal_mode=MEMORY"));
  if (mode == "memory") return database;
  return Error(StatusCode::kUnavailable, "the disk is full and other programs use the file: end them, or clear it");
}

}  // namespace

Status FillNewFile(const StoreOptions& options, const fs::path& file, const KnownRevocations& revocations,
                   WaitBudget& waits) {
  HEARTH_ASSIGN(Database database, Database::Open(file, Database::Access::kReadWrite));
  database.SetWaits(&waits);
  // Unsynced: there is nothing to lose yet, and the next start replaces a file that a power cut damaged.
  HEARTH_TRY(database.Run(fmt::format(
      "PRAGMA synchronous=OFF; PRAGMA journal_mode=MEMORY; PRAGMA page_size={}; PRAGMA auto_vacuum=INCREMENTAL;",
      options.page_size_bytes)));
  HEARTH_ASSIGN(Transaction transaction, Transaction::Begin(database));
  HEARTH_TRY(MakeTables(database));
  HEARTH_TRY(MakeSecret(database));
  HEARTH_TRY(KeepRevocations(database, revocations));
  HEARTH_TRY(GiveLineage(database));
  HEARTH_TRY(database.Run(
      fmt::format("PRAGMA application_id={}; PRAGMA user_version={};", kApplicationId, FormatStamp(kFormatNumber))));
  HEARTH_TRY(transaction.Commit());
  // Last, so that the log does not begin with a copy of all that. If sqlite can't use a log, the result says so.
  const bool has_log = options.allow_write_ahead_log && SupportsWriteAheadLog(options.folder);
  return database.Run(has_log ? "PRAGMA journal_mode=WAL" : "PRAGMA journal_mode=DELETE");
}

Result<Database> OpenStoreFileAsItIs(const StoreOptions& options, WaitBudget& waits) {
  const bool read_only = options.read_only || !CanWrite(options.folder) || Database::IsForkedFromAUser();
  if (read_only) return OpenOwnFile(options, waits, true).opened;
  // The lock keeps the file from being replaced before its side files are opened.
  HEARTH_ASSIGN(const FolderLock lock, FolderLock::Take(options.folder, FolderLock::Mode::kShared, waits));
  if (!HasLocks(options.folder)) return OpenOwnFile(options, waits, true).opened;
  OwnFile own = OpenOwnFile(options, waits, false);
  if (own.opened.status().code() == StatusCode::kUnsupported) {
    return Error(StatusCode::kNotFound, "{}",
                 own.opened.status().message());  // another format's: this one has none yet
  }
  return std::move(own.opened);
}

Result<Database> OpenStoreFile(const StoreOptions& options, WaitBudget& waits, Warnings& warnings) {
  Result<Database> opened = OpenStoreFileAsItIs(options, waits);
  if (opened.ok()) RestoreLog(*opened, options);
  const StatusCode code = opened.status().code();
  if (opened.ok() || options.read_only || !(code == StatusCode::kNotFound || code == StatusCode::kMalformedInput)) {
    return opened;
  }
  if (!HasLocks(options.folder)) return NoLocksIn(options.folder);
  HEARTH_ASSIGN(const FolderLock lock, FolderLock::Take(options.folder, FolderLock::Mode::kExclusive, waits));
  OwnFile own = OpenOwnFile(options, waits, false);  // another process may have been first
  if (!IsToBeMade(own)) return std::move(own.opened);
  if (own.opened.status().code() == StatusCode::kMalformedInput) {
    HEARTH_TRY(RenameWithSideFiles(own.file, DamagedFile(options.folder)));
    warnings.Add("damaged",
                 fmt::format("the cache was damaged and starts empty; the old file is kept as {}.damaged ({})",
                             kStoreFileName, own.opened.status().message()));
  } else if (own.opened.status().code() == StatusCode::kUnsupported) {
    HEARTH_TRY(RenameWithSideFiles(own.file, FileOfFormat(options.folder, own.format)));
  }
  RemoveOtherFormats(options.folder, own.file, kOtherFormatsDays);
  HEARTH_TRY(MakeFile(options, own.file, waits).Within(own.file.string()));
  return OpenChecked(options, own.file, waits, false, own.format);
}

Result<Database> OpenWithoutSideFiles(const StoreOptions& options, const fs::path& file, WaitBudget& waits) {
  HEARTH_ASSIGN(const FolderLock lock, FolderLock::Take(options.folder, FolderLock::Mode::kExclusive, waits));
  HEARTH_TRY(CheckStoreFile(file, FolderUse::kExisting).status());
  HEARTH_TRY(CheckSideFiles(file, FolderUse::kExisting));
  HEARTH_TRY(CheckMayWriteAll(file));
  Result<Database> opened = OpenAlone(file, waits);
  HEARTH_TRY(opened.status().Within(file.string()));
  return opened;
}

FileIdentity IdentityOfOpened(const Database& database) {
  const FileIdentity identity = IdentityOf(database.file());
  return database.has_moved() ? FileIdentity() : identity;
}

void CloseStoreFile(std::optional<Database>& database, const fs::path& folder, WaitBudget& waits) {
  if (!database || database->read_only()) return database.reset();
  const Result<FolderLock> lock = FolderLock::Take(folder, FolderLock::Mode::kShared, waits);
  if (!lock.ok()) database->SetCheckpointAtClose(false);
  database.reset();
}

Status ReplaceStoreFile(const StoreOptions& options, WaitBudget& waits) {
  const fs::path cleared = ClearedFile(options.folder);
  ::unlink(cleared.c_str());
  {
    HEARTH_ASSIGN(const FolderLock lock, FolderLock::Take(options.folder, FolderLock::Mode::kExclusive, waits));
    OwnFile own = OpenOwnFile(options, waits, true);
    KnownRevocations revocations;  // for sessions that still trust those keys and continue in the new file
    if (own.opened.ok()) {
      if (auto known = ReadRevocations(*own.opened); known.ok()) revocations = *std::move(known);
    }
    own.opened = Status(StatusCode::kNotFound, "closed");
    if (::rename(own.file.c_str(), cleared.c_str()) != 0 && errno != ENOENT) return CantReplace(own.file);
    RemoveWithSideFiles(own.file);
    RemoveOtherFormats(options.folder, own.file, 0);
    RemoveUnfinished(options.folder);
    // A full disk has no room for one, and a file system without locks can't have one: a folder without a file is an
    // empty store too.
    if (HasLocks(options.folder)) static_cast<void>(MakeFile(options, own.file, waits, revocations));
  }
  std::vector<fs::path> rest = WithSideFiles(DamagedFile(options.folder));
  rest.push_back(cleared);
  RemoveInBackground(rest);
  return Status::Ok();
}

Status MoveAside(const StoreOptions& options, const fs::path& file, WaitBudget& waits, const FileIdentity& expected) {
  HEARTH_ASSIGN(const FolderLock lock, FolderLock::Take(options.folder, FolderLock::Mode::kExclusive, waits));
  if (IdentityOf(file) != expected) return Status::Ok();
  return RenameWithSideFiles(file, DamagedFile(options.folder));
}

Status MoveDamagedAside(const StoreOptions& options, WaitBudget& waits) {
  HEARTH_ASSIGN(const FolderLock lock, FolderLock::Take(options.folder, FolderLock::Mode::kExclusive, waits));
  const OwnFile own = OpenOwnFile(options, waits, false);
  if (own.opened.status().code() != StatusCode::kMalformedInput) return Status::Ok();
  return RenameWithSideFiles(own.file, DamagedFile(options.folder));
}

}  // namespace hearth
