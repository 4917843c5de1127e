#include "cache/files/one_sqlite.h"

#include <fmt/format.h>
#include <sqlite3.h>
#include <sys/auxv.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <memory>
#include <string>

#include "core/base/descriptor.h"

namespace hearth {

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
