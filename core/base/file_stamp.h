// Identifies a file without reading it, as compiler caches and build tools do.
#ifndef HEARTH_CORE_BASE_FILE_STAMP_H_
#define HEARTH_CORE_BASE_FILE_STAMP_H_

#include <cstdint>
#include <optional>

namespace hearth {

struct FileStamp {
  uint64_t device = 0, inode = 0, size_bytes = 0;
  int64_t modified_ns = 0, changed_ns = 0;  // since 1970; programs cannot set the second one
  uint64_t mount = 0;                       // a hash of the boot, the mount and the disk that the file lies on
  friend bool operator==(const FileStamp&, const FileStamp&) = default;
};

// By statfs's number. On such file systems (NFS, FUSE, ...) neither times nor memory shared between processes are
// reliable.
bool IsOnRemoteFileSystem(int64_t type);

// Whether nobody can write to the mount or file system that the open file lies on.
bool IsOnReadOnlyMount(int descriptor);

// The stamp of an open file. It proves something only where this machine's kernel made the change time, in this boot or
// an earlier one, on the file system that is mounted there now. So nullopt if anything is unknown, and
// - on a read-only mount: an image carries the change times that its builder chose, and a rebuilt one may carry the
//   same for other bytes;
// - on a network or user-space file system, whose server could report anything;
// - on one that keeps no change time (FAT);
// - on one in memory (tmpfs), where writing through a mapping may leave no trace;
// - on an overlay, which may be made of such images, where the kernel reuses the numbers of mounts (before Linux 6.8);
// - if the change time is one of a clock that was never set.
std::optional<FileStamp> FileStampOf(int descriptor);

// Whether a later change of the file is certain to change the stamp: the file is older than any clock's resolution, and
// than the time for which a write through a mapping may leave no trace.
bool IsSettled(const FileStamp& stamp, int64_t now_ns);
bool IsSettledNow(const FileStamp& stamp);

}  // namespace hearth

#endif  // HEARTH_CORE_BASE_FILE_STAMP_H_
