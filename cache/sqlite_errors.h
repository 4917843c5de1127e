// Errors of sqlite's calls as Status. Internal to `database`.
#ifndef HEARTH_CACHE_SQLITE_ERRORS_H_
#define HEARTH_CACHE_SQLITE_ERRORS_H_

#include "cache/held_signal.h"
#include "hearth/status.h"

struct sqlite3;

namespace hearth {

// The file leads to more than it can hold: see Database::BoundByFileSize.
Status HasTooManyRows();

// The error of a call that has just returned `sqlite_code`; `connection` may be null.
Status SqliteError(sqlite3* connection, int sqlite_code);

// The error of a call that may have written.
Status WriteError(const HeldSizeSignal& held, sqlite3* connection, int sqlite_code);

}  // namespace hearth

#endif  // HEARTH_CACHE_SQLITE_ERRORS_H_
