#include "cache/files/sqlite_calls.h"

#include <fmt/format.h>
#include <sqlite3.h>
#include <sys/auxv.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "cache/files/folder.h"
#include "core/base/descriptor.h"
#include "core/base/error.h"

namespace hearth {
namespace {

StatusCode CodeOf(int sqlite_code) {
  switch (sqlite_code & 0xff) {
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    // The statements are constant and tested, so a failing one means a damaged file: a missing table, two rows with one
    // digest, or a schema format that sqlite does not know.
    case SQLITE_ERROR:
    case SQLITE_CONSTRAINT:
    case SQLITE_TOOBIG:     // puts check their sizes first (max_value_bytes), so the file has it
    case SQLITE_INTERRUPT:  // SetMostSteps, BoundByFileSize
    case SQLITE_MISMATCH: return StatusCode::kMalformedInput;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_PROTOCOL: return StatusCode::kUnavailable;
    case SQLITE_FULL:
    case SQLITE_NOMEM: return StatusCode::kResourceExhausted;
    case SQLITE_IOERR:
    case SQLITE_CANTOPEN:
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
    case SQLITE_NOLFS: return StatusCode::kIoError;
    default: return StatusCode::kInternal;
  }
}

// sqlite 3.40 notes no error number for a COMMIT that fails; the thread still has it.
int ErrorNumber(sqlite3* connection, int last_error) {
  const int noted = connection != nullptr ? sqlite3_system_errno(connection) : 0;
  return noted != 0 ? noted : last_error;
}

std::filesystem::path FolderOf(sqlite3* connection) {
  const char* file = connection != nullptr ? sqlite3_db_filename(connection, "main") : nullptr;
  return file != nullptr ? std::filesystem::path(file).parent_path() : std::filesystem::path();
}

// For some calls, only the system's error number tells that the disk is full. Where a side file can't be made, sqlite
// then tries to read it, so the number says only that there is no such file: the folder is asked.
bool IsDiskFull(int sqlite_code, int error, const std::filesystem::path& folder) {
  if (sqlite_code == SQLITE_FULL || sqlite_code == SQLITE_IOERR_SHMSIZE) return true;
  const int primary = sqlite_code & 0xff;
  if (primary != SQLITE_IOERR && primary != SQLITE_CANTOPEN) return false;
  return error == ENOSPC || error == EDQUOT || (primary == SQLITE_CANTOPEN && LackIn(folder) != Lack::kNothing);
}

}  // namespace

Status HasTooManyRows() {
  return Error(StatusCode::kMalformedInput, "it is damaged: its pages lead to more than a file of its size can hold");
}

Status SqliteError(sqlite3* connection, int sqlite_code) {
  if ((sqlite_code & 0xff) == SQLITE_INTERRUPT) return HasTooManyRows();
  const int error = ErrorNumber(connection, errno);
  const std::filesystem::path folder = FolderOf(connection);
  if (IsDiskFull(sqlite_code, error, folder)) {
    return Error(StatusCode::kResourceExhausted, "{} (sqlite code {})", FullDiskText(folder, error), sqlite_code);
  }
  if ((sqlite_code & 0xff) == SQLITE_BUSY) {
    return Error(StatusCode::kUnavailable,
                 "it is locked by another process or session: try again when that has finished (sqlite code {})",
                 sqlite_code);
  }
  const char* detail = connection != nullptr && sqlite3_errcode(connection) != SQLITE_OK ? sqlite3_errmsg(connection)
                                                                                         : sqlite3_errstr(sqlite_code);
  // The message may quote names from the file, and a damaged or foreign file may contain anything.
  std::string printable = detail;
  std::ranges::replace_if(
      printable, [](char c) { return c < ' ' || c > '~'; }, '?');
  const int primary = sqlite_code & 0xff, cause = connection != nullptr ? sqlite3_system_errno(connection) : 0;
  const bool is_systems = cause != 0 && (primary == SQLITE_IOERR || primary == SQLITE_CANTOPEN);
  return Error(CodeOf(sqlite_code), "{}{}{} (sqlite code {})", printable, is_systems ? ": " : "",
               is_systems ? std::strerror(cause) : "", sqlite_code);
}

Status WriteError(const BlockedSizeSignal& held, sqlite3* connection, int sqlite_code) {
  if (!held.was_raised()) return SqliteError(connection, sqlite_code);
  return Error(StatusCode::kResourceExhausted,
               "this process may not make files that large: raise its limit, `ulimit -f` (sqlite code {})",
               sqlite_code);
}

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

// What all copies see is a socket's name, which can be bound once (with an address, because processes of two containers
// may have equal numbers); what only those with this sqlite see is its list of file systems.
bool IsOnlySqliteOf(const struct stat& file) {
  struct Mark {
    sqlite3_vfs vfs;
    std::string name;
  };
  std::unique_ptr<Mark> mark(new Mark{*sqlite3_vfs_find(nullptr)});
  mark->name = fmt::format("?hearth-{}-{}-{}-{}", ::getpid(), ::getauxval(AT_RANDOM), file.st_dev, file.st_ino);
  mark->vfs.zName = mark->name.c_str();
  mark->vfs.pNext = nullptr;
  const std::unique_ptr<sqlite3_mutex, void (*)(sqlite3_mutex*)> lock(sqlite3_mutex_alloc(SQLITE_MUTEX_STATIC_APP1),
                                                                      sqlite3_mutex_leave);
  sqlite3_mutex_enter(lock.get());
  if (sqlite3_vfs_find(mark->vfs.zName) != nullptr) return true;
  sockaddr_un name{.sun_family = AF_UNIX, .sun_path = {}};
  const size_t size = std::min(mark->name.size(), sizeof(name.sun_path));
  mark->name.copy(name.sun_path, size);
  name.sun_path[0] = '\0';  // of no file
  Descriptor socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  const auto name_bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + size);
  if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&name), name_bytes) != 0 && errno == EADDRINUSE)
    return false;
  socket.Release();
  sqlite3_vfs_register(&mark.release()->vfs, 0);
  return true;
}

}  // namespace hearth
