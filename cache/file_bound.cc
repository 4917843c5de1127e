#include "cache/file_bound.h"

#include <sqlite3.h>

#include <climits>
#include <optional>

namespace hearth {
namespace {

// integrity_check, the longest statement, takes about 1 for each byte of a store of tiny entries.
constexpr uint64_t kMostStepsPerByte = 16, kStepsForAnyFile = 1'000'000;
constexpr uint64_t kNotYetWritten = 1 << 16;  // what a transaction holds in memory

// The size of the file itself or of its log or journal; nullopt if the system does not tell.
std::optional<uint64_t> SizeOf(sqlite3* connection, int which) {
  sqlite3_file* file = nullptr;
  sqlite3_int64 size_bytes = 0;
  if (sqlite3_file_control(connection, "main", which, &file) != SQLITE_OK) return std::nullopt;
  if (file == nullptr || file->pMethods == nullptr) return 0;  // not open
  if (file->pMethods->xFileSize(file, &size_bytes) != SQLITE_OK || size_bytes < 0) return std::nullopt;
  return static_cast<uint64_t>(size_bytes);
}

}  // namespace

void FileBound::Look(sqlite3* connection) {
  const std::optional<uint64_t> file = SizeOf(connection, SQLITE_FCNTL_FILE_POINTER),
                                log = SizeOf(connection, SQLITE_FCNTL_JOURNAL_POINTER);
  most_bytes = file && log ? *file + *log + kNotYetWritten : UINT64_MAX;
}

bool FileBound::Holds(uint64_t bytes, sqlite3* connection) {
  if (!is_on || bytes <= most_bytes) return true;
  Look(connection);
  return bytes <= most_bytes;
}

int FileBound::MostSteps() const {
  constexpr uint64_t kMost = INT_MAX;
  const bool is_large = most_bytes >= (kMost - kStepsForAnyFile) / kMostStepsPerByte;
  return static_cast<int>(is_large ? kMost : kStepsForAnyFile + kMostStepsPerByte * most_bytes);
}

}  // namespace hearth
