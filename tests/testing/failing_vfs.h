// A layer below sqlite in which the Nth system call fails.
#ifndef HEARTH_TESTS_TESTING_FAILING_VFS_H_
#define HEARTH_TESTS_TESTING_FAILING_VFS_H_

#include <functional>
#include <string>

namespace hearth::testing {

enum class FaultKind {
  kIoError,     // EIO: reads, writes, syncs, truncations, sizes, shared memory, deletions
  kDiskFull,    // ENOSPC: writes and truncations
  kFileTooBig,  // EFBIG: writes
  kMisread,     // EIO on reads as the newest sqlite reports it: like a damaged file
  kCantOpen,    // opening files
  kLocked,      // locks
  kQuota,       // EDQUOT: writes
};

// While it lives, all of sqlite's system calls in this process go through it.
class FailingVfs {
 public:
  FailingVfs();
  ~FailingVfs();
  FailingVfs(const FailingVfs&) = delete;
  FailingVfs& operator=(const FailingVfs&) = delete;

  // Call number `first` (from 1) of those that `kind` concerns fails, and all later ones if `lasts`.
  void Arm(FaultKind kind, int first, bool lasts);
  // Called before the next file is opened.
  void BeforeOpening(std::function<void()> action);
  // Returns the number of failed calls since Arm.
  int Disarm();
};

}  // namespace hearth::testing

#endif  // HEARTH_TESTS_TESTING_FAILING_VFS_H_
