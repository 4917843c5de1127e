// A signal that a call may raise where it fails: what the call returns says the same, and the program lives on.
#ifndef HEARTH_CACHE_HELD_SIGNAL_H_
#define HEARTH_CACHE_HELD_SIGNAL_H_

#include <csignal>

namespace hearth {

// Of this thread, while it lives. What the program itself does about the signal stays as it is.
class HeldSignal {
 public:
  // Nothing where it is not `is_needed`.
  explicit HeldSignal(int signal, bool is_needed = true);
  ~HeldSignal();
  HeldSignal(const HeldSignal&) = delete;
  HeldSignal& operator=(const HeldSignal&) = delete;

  bool was_raised() const;

 private:
  int signal_;
  sigset_t held_, before_;
  bool is_needed_;
  bool was_pending_ = false;
};

// Around writes to files: where a limit on their size is set (RLIMIT_FSIZE), one that would grow past it ends the
// program by SIGXFSZ otherwise. Now it fails with EFBIG.
class HeldSizeSignal : public HeldSignal {
 public:
  HeldSizeSignal();
};

}  // namespace hearth

#endif  // HEARTH_CACHE_HELD_SIGNAL_H_
