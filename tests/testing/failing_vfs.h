// A layer below sqlite that lets the Nth call to the operating system fail.
#ifndef HEARTH_TESTS_TESTING_FAILING_VFS_H_
#define HEARTH_TESTS_TESTING_FAILING_VFS_H_

#include <functional>
#include <string>

namespace hearth::testing {

enum class FaultKind {
  kIoError,     // EIO: reads, writes, syncs, truncations, sizes, shared memory, deletions
  kDiskFull,    // ENOSPC: writes and truncations
  kFileTooBig,  // EFBIG: writes
  kMisread,     // EIO on reads, as the newest sqlite passes it on: it looks like a damaged file
  kCantOpen,    // opening files
  kLocked,      // locks
};

// While it lives all of sqlite's calls of this process go through it.
class FailingVfs {
 public:
  FailingVfs();
  ~FailingVfs();
  FailingVfs(const FailingVfs&) = delete;
  FailingVfs& operator=(const FailingVfs&) = delete;

  // The calls number `first` (from 1), and all later ones if `lasts`, of those that `kind` concerns will fail.
  void Arm(FaultKind kind, int first, bool lasts);
  // Called before the next file is opened.
  void BeforeOpening(std::function<void()> action);
  // How many calls failed since Arm.
  int Disarm();
};

}  // namespace hearth::testing

#endif  // HEARTH_TESTS_TESTING_FAILING_VFS_H_
