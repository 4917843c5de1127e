#include "cache/store/rewrite.h"

#include <fcntl.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "cache/files/locked_file.h"
#include "cache/files/store_names.h"
#include "cache/store/budget.h"
#include "cache/store/entry_row.h"
#include "cache/store/store_connection.h"

namespace hearth {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kLeastFreeBytes = uint64_t{64} << 20;  // moving fewer takes less than a second
constexpr uint64_t kBytesAtOnce = uint64_t{32} << 20;     // read in one transaction; the log can't restart meanwhile
constexpr int kRewriteWaitMs = 5000;
// Whoever opens the store waits while the new file takes the name, so readers of the log are not waited for long.
constexpr int kLastReadersWaitMs = 20;
constexpr int kMostAttempts = 25;
constexpr auto kAttemptPause = std::chrono::milliseconds(20);

// A file that holds what the store holds. It goes with this object, unless it was renamed.
class StoreCopy {
 public:
  explicit StoreCopy(const StoreOptions& options)
      : options_(options), made_(MakeLockedFile(options.folder, kUnfinishedPrefix)) {}
  ~StoreCopy() {
    database_.reset();
    if (made_.descriptor.is_open()) RemoveWithSideFiles(made_.path);
  }
  StoreCopy(const StoreCopy&) = delete;
  StoreCopy& operator=(const StoreCopy&) = delete;

  const fs::path& file() const { return made_.path; }

  Status Open(const Database& original) {
    if (!made_.descriptor.is_open()) return Error(StatusCode::kIoError, "no file can be made beside the store");
    StoreOptions without_log = options_;
    without_log.allow_write_ahead_log = false;
    HEARTH_TRY(FillNewFile(without_log, file(), {}, waits_));
    HEARTH_ASSIGN(database_, Database::Open(file(), Database::Access::kReadWrite));
    database_->SetWaits(&waits_);
    // The lock keeps the original from being replaced before its side files are opened.
    HEARTH_ASSIGN(const FolderLock lock, FolderLock::Take(options_.folder, FolderLock::Mode::kShared, waits_));
    HEARTH_TRY(database_->RunWith("ATTACH ? AS old", std::string_view(original.file().native())));
    HEARTH_TRY(database_->Number("SELECT count(*) FROM old.models").status());
    if (original.has_moved()) return Error(StatusCode::kUnavailable, "the store was replaced meanwhile");
    // Unsynced and without a journal on the disk: if anything fails, the copy is removed.
    return database_->Run(
        "PRAGMA main.synchronous=OFF; PRAGMA main.journal_mode=MEMORY; PRAGMA main.cache_size=-32768;"
        "PRAGMA old.cache_size=-2048; PRAGMA mmap_size=0; PRAGMA temp_store=MEMORY; PRAGMA cell_size_check=ON;"
        "CREATE TEMP TABLE stale(id INTEGER PRIMARY KEY); CREATE TEMP TABLE missing(id INTEGER PRIMARY KEY);");
  }

  // Copies entries behind the last one that was copied. Returns false if there are none.
  Result<bool> CopyBatch() {
    HEARTH_TRY(database_->Run("BEGIN"));
    HEARTH_ASSIGN(Statement sizes, database_->Prepare("SELECT id, size_bytes FROM old.entries WHERE id>? ORDER BY id"));
    sizes.Bind(0, last_id_);
    int64_t end = last_id_;
    for (uint64_t bytes = 0; bytes < kBytesAtOnce;) {
      HEARTH_ASSIGN(const bool row, sizes.Step());
      if (!row) break;
      end = sizes.Number(0);
      bytes += SizeFrom(sizes, 1) + 1;
    }
    sizes.Reset();
    // A key that was stored again since an earlier batch has another id now: CatchUp replaces the old entry.
    for (const char* sql : {"INSERT OR IGNORE INTO main.entries SELECT * FROM old.entries WHERE id>? AND id<=?",
                            "INSERT INTO main.blobs SELECT * FROM old.blobs WHERE id>? AND id<=? AND id IN (SELECT id"
                            " FROM main.entries)"}) {
      HEARTH_TRY(database_->RunWith(sql, last_id_, end));
    }
    HEARTH_TRY(database_->Run("COMMIT"));
    // The disk begins to write, so that Sync waits for less. A failure shows there.
    static_cast<void>(::sync_file_range(made_.descriptor.get(), 0, 0, SYNC_FILE_RANGE_WRITE));
    return std::exchange(last_id_, end) != end;
  }

  // Takes over what others changed since. Comparing two times 50,000 entries takes 30 ms.
  Status CatchUp() {
    HEARTH_TRY(database_->Run(
        "BEGIN;"
        "INSERT INTO stale SELECT id FROM main.entries e WHERE NOT EXISTS(SELECT 1 FROM old.entries o WHERE o.id=e.id"
        " AND o.last_used_ms=e.last_used_ms AND o.digest=e.digest AND o.checksum=e.checksum);"
        "DELETE FROM main.blobs WHERE id IN (SELECT id FROM stale);"
        "DELETE FROM main.entries WHERE id IN (SELECT id FROM stale);"
        "INSERT INTO missing SELECT id FROM old.entries o WHERE NOT EXISTS(SELECT 1 FROM main.entries e WHERE"
        " e.id=o.id);"
        "INSERT INTO main.entries SELECT * FROM old.entries WHERE id IN (SELECT id FROM missing);"
        "INSERT INTO main.blobs SELECT * FROM old.blobs WHERE id IN (SELECT id FROM missing);"
        "DELETE FROM stale; DELETE FROM missing;"));
    HEARTH_ASSIGN(const std::vector<std::string> small, SmallTables());
    for (const std::string& table : small) {
      HEARTH_TRY(database_->Run(
          fmt::format("DELETE FROM main.\"{0}\"; INSERT INTO main.\"{0}\" SELECT * FROM old.\"{0}\";", table)));
    }
    return database_->Run("COMMIT");
  }

  // Waits until the disk has it.
  Status Sync() const {
    if (::fdatasync(made_.descriptor.get()) == 0) return Status::Ok();
    return Error(StatusCode::kIoError, "{}: {}", file().string(), std::strerror(errno));
  }

  // Nothing more is copied. The file is a store with a log, as others expect it.
  Status Close() {
    HEARTH_TRY(database_->Run("DETACH old"));
    HEARTH_ASSIGN(const std::string mode, database_->Text("PRAGMA main.journal_mode=WAL"));
    if (mode != "wal") return Error(StatusCode::kIoError, "{} can't have a log", file().string());
    database_.reset();
    return Sync();
  }

  // Under the folder's lock: closing the descriptor would end the locks of a thread that has opened the file.
  Status RenameTo(const fs::path& name) {
    if (::rename(file().c_str(), name.c_str()) != 0) {
      return Error(StatusCode::kIoError, "can't replace {}: {}", name.string(), std::strerror(errno));
    }
    made_.descriptor = Descriptor();
    return Status::Ok();
  }

 private:
  // All but those that CopyBatch copies.
  Result<std::vector<std::string>> SmallTables() {
    HEARTH_ASSIGN(Statement rows,
                  database_->Prepare("SELECT name FROM main.sqlite_schema WHERE type='table' AND name NOT LIKE"
                                     " 'sqlite_%' AND name NOT IN ('entries', 'blobs')"));
    std::vector<std::string> names;
    HEARTH_TRY(rows.ForEachRow([&] { names.emplace_back(rows.Text(0)); }));
    return names;
  }

  StoreOptions options_;
  WaitBudget waits_{kRewriteWaitMs};  // before the database, which refers to it
  LockedFile made_;
  std::optional<Database> database_;
  int64_t last_id_ = 0;
};

// Returns false if others write or read in the log, so that it must be tried again.
Result<bool> TakeName(const StoreOptions& options, Database& database, StoreCopy& copy) {
  WaitBudget waits(kRewriteWaitMs);
  HEARTH_ASSIGN(const FolderLock lock, FolderLock::Take(options.folder, FolderLock::Mode::kExclusive, waits));
  if (!EmptyLog(database, kLastReadersWaitMs)) return false;
  // It waits for nobody: whoever writes now leaves something in the log.
  const Result<Transaction> nobody_commits = Transaction::Begin(database);
  if (!nobody_commits.ok() && (database.has_moved() || nobody_commits.status().code() != StatusCode::kUnavailable))
    return nobody_commits.status();
  if (!nobody_commits.ok() || LogBytes(database) > 0) return false;
  HEARTH_TRY(copy.CatchUp());
  HEARTH_TRY(copy.Close());
  // The old file keeps a name until it is removed in the background.
  const fs::path& file = database.file();
  const fs::path cleared = ClearedFile(options.folder);
  ::unlink(cleared.c_str());
  static_cast<void>(::link(file.c_str(), cleared.c_str()));
  HEARTH_TRY(copy.RenameTo(file));
  RemoveSideFiles(file);
  return true;
}

}  // namespace

bool IsFasterToRewrite(Database& database) {
  const Result<int64_t> free_pages = database.Number("PRAGMA freelist_count");
  const Result<int64_t> page_bytes = database.Number("PRAGMA page_size");
  const Result<uint64_t> used_bytes = UsedBytes(database);
  const Result<std::string> mode = database.Text("PRAGMA journal_mode");
  if (!free_pages.ok() || !page_bytes.ok() || !used_bytes.ok() || !mode.ok() || *mode != "wal") return false;
  uint64_t free_bytes = static_cast<uint64_t>(*free_pages) * static_cast<uint64_t>(*page_bytes);
  // What a crash left behind the last page; sqlite never looks there.
  std::error_code error;
  const uint64_t file_bytes = fs::file_size(database.file(), error);
  if (!error && file_bytes > *used_bytes + free_bytes) free_bytes = file_bytes - *used_bytes;
  struct statvfs disk = {};
  if (::statvfs(database.file().c_str(), &disk) != 0) return false;
  // Sessions that have the old file open keep it on the disk until they store or end. So a disk that is nearly full is
  // better served by moving pages.
  const uint64_t room_bytes = uint64_t{disk.f_bavail} * disk.f_frsize;
  return free_bytes >= kLeastFreeBytes && free_bytes >= *used_bytes / 2 && room_bytes / 2 >= *used_bytes;
}

Status RewriteStore(const StoreOptions& options, std::optional<Database>& database) {
  {
    StoreCopy copy(options);
    HEARTH_TRY(copy.Open(*database));
    for (bool is_more = true; is_more;) {
      HEARTH_ASSIGN(is_more, copy.CopyBatch());
      KeepLogSmall(*database);
    }
    bool is_done = false;
    for (int attempt = 0; !is_done; ++attempt) {
      if (attempt == kMostAttempts) return Error(StatusCode::kUnavailable, "others never let the log end");
      if (attempt > 0) std::this_thread::sleep_for(kAttemptPause);
      // Most of the work comes before the locks.
      HEARTH_TRY(copy.Sync());
      HEARTH_TRY(copy.CatchUp());
      HEARTH_TRY(copy.Sync());
      static_cast<void>(database->Number("PRAGMA wal_checkpoint(PASSIVE)"));
      HEARTH_ASSIGN(is_done, TakeName(options, *database, copy));
    }
  }
  database.reset();  // whoever closes a file last frees its pages, and waits for that
  RemoveInBackground({ClearedFile(options.folder)});
  return Status::Ok();
}

}  // namespace hearth
