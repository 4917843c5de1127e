// The write-ahead log of a store: others' commits go there until a checkpoint copies them into the file.
#ifndef HEARTH_CACHE_FILES_WRITE_AHEAD_LOG_H_
#define HEARTH_CACHE_FILES_WRITE_AHEAD_LOG_H_

#include <cstdint>

#include "cache/files/database.h"

namespace hearth {

uint64_t LogBytes(const Database& database);  // 0 without a log

// Copies the log into the file and empties it, outside a transaction. Returns false if others still read in it or write
// after `wait_ms`. Afterwards the database waits within `waits_after`; null: it does not wait.
bool EmptyLog(Database& database, int wait_ms, WaitBudget* waits_after = nullptr);

// Empties the log if it has grown beyond 32 MiB. At each commit beyond 16 MiB sqlite copies the log into the file
// beside writers, and restarts the log when nobody reads in it; where that does not suffice, this waits for readers.
constexpr uint64_t kMostLogBytes = uint64_t{32} << 20;
void KeepLogSmall(Database& database);

}  // namespace hearth

#endif  // HEARTH_CACHE_FILES_WRITE_AHEAD_LOG_H_
