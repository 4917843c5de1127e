#include "frontends/java/signal_handlers.h"

#include <dlfcn.h>
#include <signal.h>

#include <array>
#include <atomic>
#include <mutex>

namespace hearth::java {
namespace {

constexpr std::array kSignals = {SIGSEGV, SIGFPE, SIGBUS,  SIGILL,  SIGTRAP, SIGXFSZ,
                                 SIGHUP,  SIGINT, SIGTERM, SIGQUIT, SIGUSR1, SIGUSR2};

// HotSpot's door for handlers that are not its own: true if the signal was the JVM's, which then has handled it.
using HandleSignal = int (*)(int signal, siginfo_t* info, void* context, int abort_if_unrecognized);

std::mutex mutex;
std::array<struct sigaction, kSignals.size()> remembered;
HandleSignal jvm_handles = nullptr;
std::atomic<void (*)(int, siginfo_t*, void*)> driver_handles = nullptr;

void OfferToJvmThenDriver(int signal, siginfo_t* info, void* context) {
  if (jvm_handles(signal, info, context, 0) != 0) return;
  if (const auto driver = driver_handles.load(); driver != nullptr) return driver(signal, info, context);
  jvm_handles(signal, info, context, 1);  // ends the process with a report
}

const void* LibraryOf(const struct sigaction& action) {
  Dl_info info;
  const auto* address = reinterpret_cast<const void*>(action.sa_sigaction);
  return action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN && dladdr(address, &info) != 0 ? info.dli_fbase
                                                                                                     : nullptr;
}

bool IsSame(const struct sigaction& a, const struct sigaction& b) {
  return a.sa_sigaction == b.sa_sigaction;
}

void PutBack(int signal, const struct sigaction& own, const struct sigaction& now) {
  // A program's own handler, set meanwhile through the JVM, lies in the JVM's library or is none.
  const void* library = LibraryOf(now);
  if (library == nullptr || library == LibraryOf(remembered[0]) || now.sa_sigaction == OfferToJvmThenDriver) return;
  if (signal != SIGFPE || jvm_handles == nullptr || (now.sa_flags & SA_SIGINFO) == 0) {
    sigaction(signal, &own, nullptr);
    return;
  }
  driver_handles = now.sa_sigaction;
  struct sigaction both = own;
  both.sa_sigaction = OfferToJvmThenDriver;
  sigaction(signal, &both, nullptr);
}

}  // namespace

void RememberSignalHandlers() {
  const std::lock_guard lock(mutex);
  for (size_t k = 0; k < kSignals.size(); ++k) sigaction(kSignals[k], nullptr, &remembered[k]);
  Dl_info jvm;
  const auto* address = reinterpret_cast<const void*>(remembered[0].sa_sigaction);
  void* library = dladdr(address, &jvm) != 0 ? dlopen(jvm.dli_fname, RTLD_NOLOAD | RTLD_LAZY) : nullptr;
  if (library != nullptr) jvm_handles = reinterpret_cast<HandleSignal>(dlsym(library, "JVM_handle_linux_signal"));
}

void KeepSignalHandlers() {
  // Drivers replace these two first: nothing else costs each run anything.
  struct sigaction segv, fpe;
  sigaction(SIGSEGV, nullptr, &segv);
  sigaction(SIGFPE, nullptr, &fpe);
  if (IsSame(segv, remembered[0]) && (IsSame(fpe, remembered[1]) || fpe.sa_sigaction == OfferToJvmThenDriver)) return;
  const std::lock_guard lock(mutex);
  for (size_t k = 0; k < kSignals.size(); ++k) {
    struct sigaction now;
    sigaction(kSignals[k], nullptr, &now);
    if (!IsSame(now, remembered[k])) PutBack(kSignals[k], remembered[k], now);
  }
}

}  // namespace hearth::java
