// One sqlite for a file in a process.
#ifndef HEARTH_CACHE_FILES_ONE_SQLITE_H_
#define HEARTH_CACHE_FILES_ONE_SQLITE_H_

#include <sys/stat.h>

namespace hearth {

// Whether no copy of Hearth with another sqlite has opened this file in this process. Closing a file drops a process's
// locks on it (POSIX), and two sqlites lock and close as if they were alone: with two, the store was damaged within 13
// starts of each. So the sqlite that opens a file first has it until the process ends. Any thread.
bool IsOnlySqliteOf(const struct stat& file);

}  // namespace hearth

#endif  // HEARTH_CACHE_FILES_ONE_SQLITE_H_
