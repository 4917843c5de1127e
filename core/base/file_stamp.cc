#include "core/base/file_stamp.h"

#include <sys/stat.h>
#include <sys/vfs.h>

#include <algorithm>
#include <limits>

namespace hearth {
namespace {

constexpr int64_t kNsPerSecond = 1'000'000'000;

// Linux writes dirty pages back after 30 s, in rounds of 5 (vm.dirty_expire_centisecs); until then another write to a
// page that somebody has mapped does not touch the file's times.
constexpr int64_t kSettledNs = 60 * kNsPerSecond;

// Saturates outside the years 1677 to 2262, which 64 bits hold: anybody can give a file such a date.
int64_t NsOf(const timespec& time) {
  constexpr int64_t kMostSeconds = std::numeric_limits<int64_t>::max() / kNsPerSecond - 1;
  return std::clamp(int64_t{time.tv_sec}, -kMostSeconds, kMostSeconds) * kNsPerSecond + time.tv_nsec;
}

// FAT and HFS report the modification time, which anybody can set, as the change time. A file that is overwritten in
// place with the same length and date would keep its stamp.
bool KeepsNoChangeTime(int64_t type) {
  return type == 0x4d44 || type == 0x2011bab0 || type == 0x4244;  // FAT, exFAT, HFS
}

}  // namespace

bool IsOnRemoteFileSystem(int64_t type) {
  switch (static_cast<uint32_t>(type)) {  // numbers from statfs(2) and coreutils
    case 0x6969:                          // NFS
    case 0x517b:                          // SMB
    case 0xff534d42:                      // CIFS
    case 0xfe534d42:                      // SMB2
    case 0x01021997:                      // 9p
    case 0x5346414f:                      // AFS
    case 0x6b414653:                      // AFS as the kernel calls its own
    case 0x73757245:                      // Coda
    case 0x00c36400:                      // Ceph
    case 0x0bd00bd0:                      // Lustre
    case 0x47504653:                      // GPFS
    case 0x19830326:                      // BeeGFS
    case 0x20030528:                      // OrangeFS
    case 0xaad7aaea:                      // PanFS
    case 0x01161970:                      // GFS2
    case 0x7461636f:                      // OCFS2
    case 0x786f4256:                      // folders that VirtualBox shares
    case 0xbacbacbc:                      // VMware
    case 0x7c7c6673:                      // Parallels
    case 0x65735546: return true;         // FUSE: sshfs and its like
    default: return false;
  }
}

std::optional<FileStamp> FileStampOf(int descriptor) {
  struct stat info;
  struct statfs system;
  if (::fstat(descriptor, &info) != 0 || ::fstatfs(descriptor, &system) != 0) return std::nullopt;
  if (!S_ISREG(info.st_mode) || IsOnRemoteFileSystem(system.f_type) || KeepsNoChangeTime(system.f_type)) {
    return std::nullopt;
  }
  return FileStamp{static_cast<uint64_t>(info.st_dev), static_cast<uint64_t>(info.st_ino),
                   static_cast<uint64_t>(info.st_size), NsOf(info.st_mtim), NsOf(info.st_ctim)};
}

bool IsSettled(const FileStamp& stamp, int64_t now_ns) {
  const int64_t youngest_ns = std::max(stamp.modified_ns, stamp.changed_ns);
  return youngest_ns < now_ns && now_ns - youngest_ns > kSettledNs;
}

}  // namespace hearth
