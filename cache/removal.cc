#include "cache/removal.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "cache/budget.h"
#include "cache/entry_row.h"

namespace hearth {
namespace {

constexpr uint64_t kBatchBytes = uint64_t{16} << 20;  // of blobs
constexpr int kBatchPages = 512;                      // moved by one step of shrinking
constexpr int kBatchWaitMs = 5000;                    // for others who write
constexpr int kReadersWaitMs = 50;
// Longer than a waiting writer sleeps between two attempts: it gets its turn.
constexpr auto kPause = std::chrono::milliseconds(4);

// The log begins anew only when no session is reading in it: waited for, shorter than writers have patience.
void CopyLogIntoFile(Database& database) {
  WaitBudget waits(kReadersWaitMs);
  database.SetWaits(&waits);
  static_cast<void>(database.Number("PRAGMA wal_checkpoint(TRUNCATE)"));
}

// One transaction, and room for others behind it.
template <typename Work>
Status InTurn(Database& database, const Work& work) {
  WaitBudget waits(kBatchWaitMs);
  database.SetWaits(&waits);
  const auto run = [&]() -> Status {
    HEARTH_ASSIGN(Transaction transaction, Transaction::Begin(database));
    HEARTH_TRY(work());
    return transaction.Commit();
  };
  const Status status = run();
  if (status.ok()) CopyLogIntoFile(database);
  database.SetWaits(nullptr);
  if (status.ok()) std::this_thread::sleep_for(kPause);
  return status;
}

}  // namespace

Status DeleteInBatches(Database& database, std::span<const int64_t> ids) {
  while (!ids.empty()) {
    HEARTH_TRY(InTurn(database, [&]() -> Status {
      HEARTH_ASSIGN(Statement size, database.Prepare("SELECT size_bytes FROM entries WHERE id=?"));
      for (int64_t bytes = 0; !ids.empty() && bytes < static_cast<int64_t>(kBatchBytes); ids = ids.subspan(1)) {
        HEARTH_ASSIGN(const bool row, size.Bind(0, ids.front()).Step());
        bytes += row ? size.Number(0) + 1 : 0;
        size.Reset();
        HEARTH_TRY(DeleteEntry(database, ids.front()));
      }
      return Status::Ok();
    }));
  }
  return ShrinkFile(database);
}

Status DeleteDownTo(Database& database, uint64_t max_bytes) {
  HEARTH_TRY(InTurn(database, [&] { return SetFutureStampsRight(database); }));
  for (bool is_done = false; !is_done;) {
    HEARTH_TRY(InTurn(database, [&]() -> Status {
      HEARTH_ASSIGN(const uint64_t used_bytes, UsedBytes(database));
      is_done = used_bytes <= max_bytes;
      if (is_done) return Status::Ok();
      HEARTH_ASSIGN(const std::vector<Victim> victims,
                    LeastWorthKeeping(database, std::min(used_bytes - max_bytes, kBatchBytes),
                                      [](const Fingerprint&) { return false; }));
      is_done = victims.empty();
      for (const Victim& victim : victims) HEARTH_TRY(DeleteEntry(database, victim.id));
      return Status::Ok();
    }));
  }
  // What the models that are known will ask for again need not be remembered for entries that went.
  HEARTH_TRY(InTurn(database,
                    [&] { return database.Run("DELETE FROM uses WHERE digest NOT IN (SELECT digest FROM entries)"); }));
  return ShrinkFile(database);
}

Status ShrinkFile(Database& database) {
  while (true) {
    HEARTH_ASSIGN(const int64_t free_pages, database.Number("PRAGMA freelist_count"));
    if (free_pages <= 0) return Status::Ok();
    HEARTH_TRY(
        InTurn(database, [&] { return database.Run(fmt::format("PRAGMA incremental_vacuum({})", kBatchPages)); }));
    HEARTH_ASSIGN(const int64_t left, database.Number("PRAGMA freelist_count"));
    if (left >= free_pages) return Status::Ok();  // somebody else frees as fast
  }
}

}  // namespace hearth
