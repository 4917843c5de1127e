// By which a file is known again without reading it, as compiler caches and build tools do.
#ifndef HEARTH_CORE_BASE_FILE_STAMP_H_
#define HEARTH_CORE_BASE_FILE_STAMP_H_

#include <cstdint>
#include <optional>

namespace hearth {

struct FileStamp {
  uint64_t device = 0, inode = 0, size_bytes = 0;
  int64_t modified_ns = 0, changed_ns = 0;  // since 1970; nobody sets the second but the system's clock
  friend bool operator==(const FileStamp&, const FileStamp&) = default;
};

// By statfs's number: such as NFS and FUSE, where neither times nor memory shared between processes can be relied upon.
bool IsOnRemoteFileSystem(int64_t type);

// Of an open file; nullopt where it can't be told, or lies on a network or user-space file system, whose server could
// say anything, or on one that keeps no time of changes (FAT).
std::optional<FileStamp> FileStampOf(int descriptor);

// Whether a later change of the file would change the stamp for certain: the file is older than any clock's grain, and
// than the time for which a write through a mapping may leave no trace.
bool IsSettled(const FileStamp& stamp, int64_t now_ns);

}  // namespace hearth

#endif  // HEARTH_CORE_BASE_FILE_STAMP_H_
