#include "runtime/devices/forked_drivers.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>

#include "runtime/devices/driver_watch.h"

namespace hearth {
namespace {

// The use of one backend. Atomics instead of a lock, which another thread might hold during a fork.
struct Use {
  std::atomic<const char*> backend = nullptr;  // name in the list of backends
  std::atomic<pid_t> process = 0;              // the first process that found a device
  std::atomic<bool> has_hardware = false;
};

constexpr size_t kMostBackends = 16;

Use* UseOf(const BackendDef& backend) {
  static std::array<Use, kMostBackends> uses;
  for (Use& use : uses) {
    const char* known = nullptr;
    if (use.backend.compare_exchange_strong(known, backend.name.data()) || backend.name == known) return &use;
  }
  return nullptr;
}

bool IsFork(const Use& use) {
  const pid_t process = use.process;
  return process != 0 && process != ::getpid();
}

std::string WhyNotHere(const BackendDef& backend, const Use& use) {
  return fmt::format(
      "process {}, of which this one is a fork, has used the {} driver, whose threads do not exist here: open "
      "sessions only after forking, or start processes in another way (in Python with multiprocessing's 'spawn')",
      use.process.load(), backend.name);
}

bool IsHardware(const DeviceCandidate& candidate) {
  return candidate.usable && candidate.type != DeviceType::kCpu;
}

// The host's signal handlers: what a driver replaces while this object lives is put back. PoCL's LLVM takes 15 of them
// when its devices are listed.
class KeptSignalHandlers {
 public:
  KeptSignalHandlers() {
    for (int number = 1; number < NSIG; ++number) ::sigaction(number, nullptr, &handlers_[number]);
  }
  ~KeptSignalHandlers() {
    for (int number = 1; number < NSIG; ++number) {
      struct sigaction now;
      if (::sigaction(number, nullptr, &now) == 0 && now.sa_handler != handlers_[number].sa_handler) {
        ::sigaction(number, &handlers_[number], nullptr);
      }
    }
  }
  KeptSignalHandlers(const KeptSignalHandlers&) = delete;
  KeptSignalHandlers& operator=(const KeptSignalHandlers&) = delete;

 private:
  std::array<struct sigaction, NSIG> handlers_ = {};
};

}  // namespace

std::vector<DeviceCandidate> EnumerateUnlessForked(const BackendDef& backend) {
  Use* const use = backend.is_host() ? nullptr : UseOf(backend);
  if (use != nullptr && IsFork(*use)) {
    DeviceCandidate unusable;
    unusable.backend = backend.name;
    unusable.unusable_reason = WhyNotHere(backend, *use);
    return {unusable};
  }
  std::vector<DeviceCandidate> candidates;
  {
    const KeptSignalHandlers kept;
    candidates = EnumerateWatched(backend);
  }
  if (use != nullptr && std::ranges::any_of(candidates, &DeviceCandidate::usable)) {
    pid_t none = 0;
    use->process.compare_exchange_strong(none, ::getpid());
    if (std::ranges::any_of(candidates, IsHardware)) use->has_hardware = true;
  }
  return candidates;
}

std::string WhyHardwareIsLost(const BackendDef& backend) {
  const Use* const use = backend.is_host() ? nullptr : UseOf(backend);
  return use != nullptr && use->has_hardware && IsFork(*use) ? WhyNotHere(backend, *use) : "";
}

}  // namespace hearth
