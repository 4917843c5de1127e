#include "core/base/blocked_signal.h"

#include <sys/resource.h>

#include <ctime>

namespace hearth {
namespace {

bool AreFilesLimited() {
  rlimit limit;
  return ::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
}

bool IsPending(int signal) {
  sigset_t pending;
  return sigpending(&pending) == 0 && sigismember(&pending, signal) == 1;
}

}  // namespace

BlockedSignal::BlockedSignal(int signal, bool is_needed) : signal_(signal), is_needed_(is_needed) {
  if (!is_needed_) return;
  sigemptyset(&held_);
  sigaddset(&held_, signal);
  was_pending_ = IsPending(signal);
  pthread_sigmask(SIG_BLOCK, &held_, &before_);
}

BlockedSignal::~BlockedSignal() {
  if (!is_needed_) return;
  const timespec no_wait{};
  if (!was_pending_) sigtimedwait(&held_, nullptr, &no_wait);  // removes the signal if it was raised meanwhile
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

bool BlockedSignal::was_raised() const {
  return is_needed_ && !was_pending_ && IsPending(signal_);
}

BlockedSizeSignal::BlockedSizeSignal() : BlockedSignal(SIGXFSZ, AreFilesLimited()) {}

}  // namespace hearth
