#include "cache/store/removal.h"

#include <algorithm>
#include <chrono>
#include <set>
#include <thread>

#include "cache/store/budget.h"
#include "cache/store/entry_row.h"
#include "cache/store/models.h"
#include "cache/store/store_connection.h"

namespace hearth {
namespace {

constexpr int kBatchWaitMs = 5000;  // for other writers
constexpr int kLastWaitMs = 50;     // for readers of the log
// Longer than a waiting writer sleeps between two attempts, so that it comes next.
constexpr auto kPause = std::chrono::milliseconds(4);
// A transaction's pages stay in memory until it ends: with the usual 256 KiB each was written to the log and read again
// several times. The log keeps its size, so that it overwrites disk space that it already has.
constexpr int64_t kPageCacheKiB = 32 << 10;
constexpr uint64_t kMostMovedBytes = uint64_t{16} << 20;     // in one transaction, all of which goes to the log
constexpr uint64_t kMostDeletedBytes = uint64_t{256} << 20;  // of which the log gets a few pages
constexpr uint64_t kCopiesOfMovedPage = 2;                   // it is read, and written to the log

// Works in short transactions, with pauses for others. The amount of work follows the time of the last transaction,
// because a session that wants to store waits 250 ms in all, and a disk may be slow.
class ShortTransactions {
 public:
  // The amount of work is counted in bytes, at most `most_bytes`.
  ShortTransactions(Database& database, uint64_t most_bytes) : database_(database), most_bytes_(most_bytes) {
    static_cast<void>(database_.Run(fmt::format("PRAGMA cache_size=-{}; PRAGMA journal_size_limit={};", kPageCacheKiB,
                                                kMostLogBytes)));  // only speed depends on them
  }
  ~ShortTransactions() { EmptyLog(database_, kLastWaitMs); }
  ShortTransactions(const ShortTransactions&) = delete;
  ShortTransactions& operator=(const ShortTransactions&) = delete;

  uint64_t batch_bytes() const { return batch_bytes_; }

  template <typename Work>
  Status Run(const Work& work) {
    WaitBudget waits(kBatchWaitMs);
    database_.SetWaits(&waits);
    const auto once = [&]() -> Status {
      HEARTH_ASSIGN(Transaction transaction, Transaction::Begin(database_));
      const auto start = std::chrono::steady_clock::now();
      HEARTH_TRY(work());
      const Status status = transaction.Commit();
      NoteDuration(std::chrono::steady_clock::now() - start);
      return status;
    };
    Status status = once();
    database_.SetWaits(nullptr);
    if (!status.ok()) return status;
    KeepLogSmall(database_);
    std::this_thread::sleep_for(kPause);
    return status;
  }

 private:
  void NoteDuration(std::chrono::steady_clock::duration time) {
    constexpr auto kLong = std::chrono::milliseconds(60), kShort = std::chrono::milliseconds(25);
    if (time > kLong) batch_bytes_ = std::max(kLeastBytes, batch_bytes_ / 2);
    if (time < kShort) batch_bytes_ = std::min(most_bytes_, batch_bytes_ * 2);
  }

  static constexpr uint64_t kLeastBytes = uint64_t{512} << 10;
  Database& database_;
  const uint64_t most_bytes_;
  uint64_t batch_bytes_ = uint64_t{4} << 20;
};

}  // namespace

Status ShrinkInPlace(Database& database) {
  ShortTransactions transactions(database, kMostMovedBytes);
  HEARTH_ASSIGN(const int64_t page_bytes, database.Number("PRAGMA page_size"));
  while (true) {
    HEARTH_ASSIGN(const int64_t free_pages, database.Number("PRAGMA freelist_count"));
    if (free_pages <= 0) return Status::Ok();
    const auto batch_bytes = static_cast<int64_t>(transactions.batch_bytes() / kCopiesOfMovedPage);
    const int64_t pages = std::clamp<int64_t>(batch_bytes / page_bytes, 1, free_pages);
    // sqlite moves the last page first. Read backwards, one by one, each would wait for the disk under the lock.
    HEARTH_ASSIGN(const int64_t page_count, database.Number("PRAGMA page_count"));
    const int64_t kept_pages = std::max<int64_t>(0, page_count - pages);
    database.ReadAhead(kept_pages * page_bytes, (page_count - kept_pages) * page_bytes);
    HEARTH_TRY(transactions.Run([&] { return database.Run(fmt::format("PRAGMA incremental_vacuum({})", pages)); }));
    HEARTH_ASSIGN(const int64_t left, database.Number("PRAGMA freelist_count"));
    if (left >= free_pages) return Status::Ok();  // others free pages as fast
  }
}

Status DeleteInBatches(Database& database, std::span<const int64_t> ids) {
  ShortTransactions transactions(database, kMostDeletedBytes);
  while (!ids.empty()) {
    HEARTH_TRY(transactions.Run([&]() -> Status {
      HEARTH_ASSIGN(Statement size, database.Prepare("SELECT size_bytes FROM entries WHERE id=?"));
      for (int64_t bytes = 0; !ids.empty() && bytes < static_cast<int64_t>(transactions.batch_bytes());
           ids = ids.subspan(1)) {
        HEARTH_ASSIGN(const bool row, size.Bind(0, ids.front()).Step());
        bytes += row ? size.Number(0) + 1 : 0;
        size.Reset();
        HEARTH_TRY(DeleteEntry(database, ids.front()));
      }
      return Status::Ok();
    }));
  }
  return Status::Ok();
}

Status DeleteDownTo(Database& database, uint64_t max_bytes) {
  constexpr auto kNoneIsKept = [](const Fingerprint&) { return false; };
  std::set<Fingerprint> sources;
  ShortTransactions transactions(database, kMostDeletedBytes);
  HEARTH_TRY(transactions.Run([&] { return SetFutureStampsRight(database); }));
  for (bool is_done = false; !is_done;) {
    HEARTH_TRY(transactions.Run([&]() -> Status {
      HEARTH_ASSIGN(const uint64_t used_bytes, UsedBytes(database));
      is_done = used_bytes <= max_bytes;
      if (is_done) return Status::Ok();
      HEARTH_ASSIGN(
          const std::vector<Victim> victims,
          LeastWorthKeeping(database, std::min(used_bytes - max_bytes, transactions.batch_bytes()), kNoneIsKept));
      is_done = victims.empty();
      for (const Victim& victim : victims) {
        HEARTH_TRY(DeleteEntry(database, victim.id));
        if (victim.is_source) sources.insert(victim.digest);
      }
      return Status::Ok();
    }));
  }
  // Found outside of a turn: all programs are read for it.
  HEARTH_ASSIGN(const std::vector<int64_t> programs, ProgramsThatNeed(database, sources, kNoneIsKept));
  HEARTH_TRY(DeleteInBatches(database, programs));
  // Models' uses of deleted entries need not be remembered.
  return transactions.Run(
      [&] { return database.Run("DELETE FROM uses WHERE digest NOT IN (SELECT digest FROM entries)"); });
}

namespace {

// Precondition: `users` selects id and digest by the digest that entries need.
Status AddUsers(Statement& users, const Fingerprint& needed, const std::function<bool(const Fingerprint&)>& is_kept,
                std::vector<int64_t>& ids) {
  const StatementScope scope(users);
  return users.Bind(0, needed.bytes).ForEachRow([&] {
    if (!is_kept(FingerprintFrom(users.Blob(1)))) ids.push_back(users.Number(0));
  });
}

constexpr const char* kUsers = "SELECT id, digest FROM entries WHERE needs=?";

}  // namespace

Result<std::vector<int64_t>> ProgramsThatNeed(Database& database, const std::set<Fingerprint>& sources,
                                              const std::function<bool(const Fingerprint&)>& is_kept) {
  std::vector<int64_t> programs;
  if (sources.empty()) return programs;
  HEARTH_ASSIGN(const std::set<Fingerprint> pinned, PinnedDigests(database));
  HEARTH_ASSIGN(Statement users, database.Prepare(kUsers));
  const auto stays = [&](const Fingerprint& digest) { return pinned.contains(digest) || is_kept(digest); };
  for (const Fingerprint& source : sources) HEARTH_TRY(AddUsers(users, source, stays, programs));
  return programs;
}

Result<std::vector<int64_t>> WithTheirPrograms(Database& database, std::span<const int64_t> ids) {
  std::set<Fingerprint> named;
  HEARTH_ASSIGN(Statement row, database.Prepare("SELECT digest FROM entries WHERE id=?"));
  for (const int64_t id : ids) {
    const StatementScope scope(row);
    HEARTH_ASSIGN(const bool is_there, row.Bind(0, id).Step());
    if (is_there) named.insert(FingerprintFrom(row.Blob(0)));
  }
  std::vector<int64_t> all;
  HEARTH_ASSIGN(Statement users, database.Prepare(kUsers));
  const auto goes_anyway = [&](const Fingerprint& digest) { return named.contains(digest); };
  for (const Fingerprint& digest : named) HEARTH_TRY(AddUsers(users, digest, goes_anyway, all));
  all.insert(all.end(), ids.begin(), ids.end());
  return all;
}

}  // namespace hearth
