#include "core/base/file_stamp.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <ctime>
#include <limits>
#include <string>

#include "core/base/descriptor.h"
#include "core/base/error.h"
#include "core/base/fingerprint.h"
#include "core/base/text.h"

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

// These write no page back. So a page that a program has mapped and read can be written later without a fault, and the
// file's times stay, however old they are.
bool IsInMemory(int64_t type) {
  const auto number = static_cast<uint32_t>(type);
  return number == 0x01021994 || number == 0x858458f6 || number == 0x958458f6;  // tmpfs, ramfs, hugetlbfs
}

// No computer that runs this had a clock that was set, and was earlier.
constexpr int64_t kFirstTrueTimeNs = 946'684'800 * kNsPerSecond;  // the year 2000

constexpr int64_t kOverlay = 0x794c7630;
constexpr unsigned kUniqueMountId = 0x4000;  // STATX_MNT_ID_UNIQUE, since Linux 6.8; Debian 12's headers lack it

// A short file of the kernel's; empty if it can't be read.
std::string KernelText(const std::string& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::array<char, 64> text;
  const ssize_t size = file.get() < 0 ? -1 : ::read(file.get(), text.data(), text.size());
  return size > 0 ? std::string(text.data(), static_cast<size_t>(size)) : std::string();
}

// A number that each disk gets when it appears, a loop device with each file that it shows; empty for a file system
// without a disk, and before Linux 5.15. A partition has its disk's.
std::string DiskOf(dev_t device) {
  const std::string folder = fmt::format("/sys/dev/block/{}:{}/", major(device), minor(device));
  const std::string of_disk = KernelText(folder + "diskseq");
  return of_disk.empty() ? KernelText(folder + "../diskseq") : of_disk;
}

// Tells apart what lies at one place: the boot, the mount, the file system and its disk.
std::optional<uint64_t> MountOf(int descriptor, const struct stat& info, const struct statfs& system) {
  struct statx mount;
  if (::statx(descriptor, "", AT_EMPTY_PATH, STATX_MNT_ID | kUniqueMountId, &mount) != 0) return std::nullopt;
  const bool is_unique = (mount.stx_mask & kUniqueMountId) != 0;
  if (!is_unique && ((mount.stx_mask & STATX_MNT_ID) == 0 || system.f_type == kOverlay)) return std::nullopt;
  const std::string boot = KernelText("/proc/sys/kernel/random/boot_id");
  if (boot.empty()) return std::nullopt;
  const auto id = std::bit_cast<std::array<int, 2>>(system.f_fsid);
  const std::string text = fmt::format("{} {} {} {:x} {} {} {}", boot, is_unique, mount.stx_mnt_id, system.f_type,
                                       id[0], id[1], DiskOf(info.st_dev));
  uint64_t hash = 0;
  std::memcpy(&hash, FingerprintOf(BytesOf(text)).bytes.data(), sizeof(hash));
  return hash;
}

}  // namespace

bool IsOnReadOnlyMount(int descriptor) {
  struct statvfs system;
  return ::fstatvfs(descriptor, &system) == 0 && (system.f_flag & ST_RDONLY) != 0;
}

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
  if (!S_ISREG(info.st_mode) || IsOnRemoteFileSystem(system.f_type) || KeepsNoChangeTime(system.f_type) ||
      IsInMemory(system.f_type) || IsOnReadOnlyMount(descriptor) || NsOf(info.st_ctim) < kFirstTrueTimeNs) {
    return std::nullopt;
  }
  const std::optional<uint64_t> mount = MountOf(descriptor, info, system);
  if (!mount) return std::nullopt;
  return FileStamp{static_cast<uint64_t>(info.st_dev),
                   static_cast<uint64_t>(info.st_ino),
                   static_cast<uint64_t>(info.st_size),
                   NsOf(info.st_mtim),
                   NsOf(info.st_ctim),
                   *mount};
}

bool IsSettled(const FileStamp& stamp, int64_t now_ns) {
  const int64_t youngest_ns = std::max(stamp.modified_ns, stamp.changed_ns);
  return youngest_ns < now_ns && now_ns - youngest_ns > kSettledNs;
}

bool IsSettledNow(const FileStamp& stamp) {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return IsSettled(stamp, NsOf(now));
}

}  // namespace hearth
