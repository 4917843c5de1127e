// What an open file can hold, for statements that read one which anybody may have made. Internal to `database`.
#ifndef HEARTH_CACHE_FILE_BOUND_H_
#define HEARTH_CACHE_FILE_BOUND_H_

#include <cstdint>

struct sqlite3;

namespace hearth {

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

}  // namespace hearth

#endif  // HEARTH_CACHE_FILE_BOUND_H_
