// Holds back a signal that a failing call raises. The call's result reports the same failure, and the program goes on.
#ifndef HEARTH_CORE_BASE_BLOCKED_SIGNAL_H_
#define HEARTH_CORE_BASE_BLOCKED_SIGNAL_H_

#include <csignal>

namespace hearth {

// Holds the signal for this thread as long as it lives. The program's own handling of the signal does not change.
class BlockedSignal {
 public:
  // Does nothing unless `is_needed`.
  explicit BlockedSignal(int signal, bool is_needed = true);
  ~BlockedSignal();
  BlockedSignal(const BlockedSignal&) = delete;
  BlockedSignal& operator=(const BlockedSignal&) = delete;

  bool was_raised() const;

 private:
  int signal_;
  sigset_t held_, before_;
  bool is_needed_;
  bool was_pending_ = false;
};

// For writes to files. Under a limit on file sizes (RLIMIT_FSIZE), a write beyond it would end the program by SIGXFSZ.
// Now it fails with EFBIG.
class BlockedSizeSignal : public BlockedSignal {
 public:
  BlockedSizeSignal();
};

}  // namespace hearth

#endif  // HEARTH_CORE_BASE_BLOCKED_SIGNAL_H_
