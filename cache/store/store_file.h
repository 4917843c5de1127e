// The file of a store: finds it, makes it, checks its format, and moves it aside if it is damaged.
#ifndef HEARTH_CACHE_STORE_STORE_FILE_H_
#define HEARTH_CACHE_STORE_STORE_FILE_H_

#include <cstdint>
#include <filesystem>
#include <optional>

#include "cache/files/database.h"
#include "cache/files/folder.h"
#include "cache/store/revocations.h"
#include "core/base/log.h"

namespace hearth {

struct StoreOptions {
  std::filesystem::path folder;  // PrepareFolder is applied to it
  uint64_t max_bytes = uint64_t{1} << 30;
  bool read_only = false;  // never written; the store must exist
  bool immutable = false;  // with read_only: a layer that nobody writes, so it is read without locks; may be root's

  // The revocations that were known when the caller read its trusted keys; nullopt: those in the store when it is
  // opened.
  std::optional<KnownRevocations> revocations;

  // The session's waiting budget for other processes; null: the store has its own. It must outlive the store.
  SessionWaits* waits = nullptr;
  // An entry's last-used stamp is renewed only if it is older than this, so that most starts write nothing.
  int64_t stamp_age_ms = 60 * 60 * 1000;

  // The page size of a new file. 16 KiB: 30 blobs of together 17 MB are read in 3.2 ms, 5.7 ms with 4 KiB pages, 2.7 ms
  // with 64 KiB pages, with which a short transaction writes four times as much (2 cores, ext4, warm file).
  int page_size_bytes = 16384;
  bool allow_write_ahead_log = true;
};

// The functions below, and databases that they return, wait for others as long as `waits` allows.

// Opens the store file in `options.folder` (already prepared). Makes a missing one and replaces a damaged one, unless
// `options.read_only`. The file of an older format is renamed and left to the older Hearth (store_names.h); beside one
// of a newer format this Hearth has its own file. Errors: kUnsupported for a read-only layer of another format,
// kUnavailable if it is locked, kIoError if it is refused or not accessible, kNotFound and kMalformedInput for
// read-only layers.
Result<Database> OpenStoreFile(const StoreOptions& options, WaitBudget& waits, Warnings& warnings);

// The same without making, repairing or changing anything: kNotFound, kMalformedInput, kUnsupported, ... Opens it for
// reading only if the folder can't be written.
Result<Database> OpenStoreFileAsItIs(const StoreOptions& options, WaitBudget& waits);

// The same for writing on a disk that is too full for side files: exclusively, with the journal in memory, so a process
// that dies meanwhile leaves a damaged file. kUnavailable while others use the store.
Result<Database> OpenWithoutSideFiles(const StoreOptions& options, const std::filesystem::path& file,
                                      WaitBudget& waits);

// Makes an empty file, which nobody else uses yet, an empty store, with a lineage of its own if `revocations` have
// none.
Status FillNewFile(const StoreOptions& options, const std::filesystem::path& file, const KnownRevocations& revocations,
                   WaitBudget& waits);

// Zeros, which no file has, if another file has taken the name since the database was opened.
FileIdentity IdentityOfOpened(const Database& database);

// Closes the store, if it is open. The last connection removes the log by its name. The folder's lock keeps another
// file from taking the store's name meanwhile, whose log that would be. Without the lock, the log is left to the next
// opener.
void CloseStoreFile(std::optional<Database>& database, const std::filesystem::path& folder, WaitBudget& waits);

// Replaces the store by an empty file. Sessions that have the old file open keep it until they notice.
Status ReplaceStoreFile(const StoreOptions& options, WaitBudget& waits);

// Renames `file` with its log to hearth.db.damaged (one is kept), unless the name has another file than `expected`.
Status MoveAside(const StoreOptions& options, const std::filesystem::path& file, WaitBudget& waits,
                 const FileIdentity& expected);
// The same with the store's file of this format, if it can't be opened because it is damaged.
Status MoveDamagedAside(const StoreOptions& options, WaitBudget& waits);

}  // namespace hearth

#endif  // HEARTH_CACHE_STORE_STORE_FILE_H_
