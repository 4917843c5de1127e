// What `database` needs around sqlite's calls: their errors as Status, and a bound for what they may
// read, and one sqlite for a file in a process.
#ifndef HEARTH_CACHE_FILES_SQLITE_CALLS_H_
#define HEARTH_CACHE_FILES_SQLITE_CALLS_H_

#include <sys/stat.h>

#include <cstdint>

#include "core/base/blocked_signal.h"
#include "hearth/status.h"

struct sqlite3;

namespace hearth {

// The file leads to more than it can hold: see Database::BoundByFileSize.
Status HasTooManyRows();

// The error of a call that has just returned `sqlite_code`; `connection` may be null.
Status SqliteError(sqlite3* connection, int sqlite_code);

// The error of a call that may have written.
Status WriteError(const BlockedSizeSignal& held, sqlite3* connection, int sqlite_code);

// What an open file can hold, for statements that read one which anybody may have made.
struct FileBound {
  bool is_on = false;
  uint64_t most_bytes = 0;  // at the last look

  // The open files count, not their names or what their headers claim. A size that the system does not tell bounds
  // nothing: a failing disk is no damaged file.
  void Look(sqlite3* connection);
  // Looks again before it says no, because the file may have grown.
  bool Holds(uint64_t bytes, sqlite3* connection);
  int MostSteps() const;  // of one statement
};

// Whether no copy of Hearth with another sqlite has opened this file in this process. Closing a file drops a process's
// locks on it (POSIX), and two sqlites lock and close as if they were alone: with two, the store was damaged within 13
// starts of each. So the sqlite that opens a file first has it until the process ends. Any thread.
bool IsOnlySqliteOf(const struct stat& file);

}  // namespace hearth

#endif  // HEARTH_CACHE_FILES_SQLITE_CALLS_H_
