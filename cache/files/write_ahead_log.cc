#include "cache/files/write_ahead_log.h"

#include <filesystem>
#include <system_error>

namespace hearth {
namespace {

constexpr int kReadersWaitMs = 50;  // shorter than writers' patience

}  // namespace

uint64_t LogBytes(const Database& database) {
  std::error_code error;
  const uint64_t bytes = std::filesystem::file_size(database.file().string() + "-wal", error);
  return error ? 0 : bytes;
}

bool EmptyLog(Database& database, int wait_ms, WaitBudget* waits_after) {
  WaitBudget waits(wait_ms);
  database.SetWaits(&waits);
  const Result<int64_t> is_busy = database.Number("PRAGMA wal_checkpoint(TRUNCATE)");
  database.SetWaits(waits_after);
  return is_busy.ok() && *is_busy == 0;
}

void KeepLogSmall(Database& database) {
  if (LogBytes(database) > kMostLogBytes) EmptyLog(database, kReadersWaitMs);
}

}  // namespace hearth
