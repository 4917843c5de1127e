// Identifies a file without reading it, as compiler caches and build tools do.
#ifndef HEARTH_CORE_BASE_FILE_STAMP_H_
#define HEARTH_CORE_BASE_FILE_STAMP_H_

#include <cstdint>
#include <optional>

namespace hearth {

struct FileStamp {
  uint64_t device = 0, inode = 0, size_bytes = 0;
  int64_t modified_ns = 0, changed_ns = 0;  // since 1970; programs cannot set the second one
  friend bool operator==(const FileStamp&, const FileStamp&) = default;
};

// By statfs's number. On such file systems (NFS, FUSE, ...) neither times nor memory shared between processes are
// reliable.
bool IsOnRemoteFileSystem(int64_t type);

// The stamp of an open file. nullopt if it is unknown, on a network or user-space file system, whose server could
// report anything, and on one that keeps no change time (FAT).
std::optional<FileStamp> FileStampOf(int descriptor);

// Whether a later change of the file is certain to change the stamp: the file is older than any clock's resolution, and
// than the time for which a write through a mapping may leave no trace.
bool IsSettled(const FileStamp& stamp, int64_t now_ns);

}  // namespace hearth

#endif  // HEARTH_CORE_BASE_FILE_STAMP_H_
