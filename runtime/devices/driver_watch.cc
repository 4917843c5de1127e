#include "runtime/devices/driver_watch.h"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <ctime>
#include <filesystem>
#include <iterator>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <thread>

#include "cache/files/folder.h"
#include "cache/files/locked_file.h"
#include "core/base/blocked_signal.h"
#include "core/base/descriptor.h"
#include "core/base/environment.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "core/base/threads.h"
#include "runtime/devices/backends.h"

namespace hearth {
namespace {

namespace fs = std::filesystem;

constexpr const char* kVariable = "HEARTH_BACKENDS";
constexpr std::time_t kLeftOutSeconds = std::time_t{7} * 24 * 60 * 60;  // as long as a binary

enum class Wish : uint8_t { kNone, kLeaveOut, kTryAgain };

// The parts of "-vulkan,+gles"; blanks separate them, too.
std::vector<std::string_view> WishesIn(std::string_view text) {
  std::vector<std::string_view> words;
  for (const std::string_view part : PartsOf(text, ',')) {
    std::ranges::copy_if(PartsOf(part, ' '), std::back_inserter(words), [](std::string_view w) { return !w.empty(); });
  }
  return words;
}

Wish WishFor(const BackendDef& backend) {
  Wish wish = Wish::kNone;
  for (const std::string_view word : WishesIn(EnvironmentVariable(kVariable))) {
    if (word.substr(1) == backend.name && word[0] == '-') wish = Wish::kLeaveOut;
    if (word.substr(1) == backend.name && word[0] == '+') wish = Wish::kTryAgain;
  }
  return wish;
}

std::vector<DeviceCandidate> LeftOut(const BackendDef& backend, std::string reason) {
  DeviceCandidate unusable;
  unusable.backend = backend.name;
  unusable.unusable_reason = std::move(reason);
  return {unusable};
}

std::optional<fs::path> WatchFolder() {
  const Result<fs::path> wanted = DefaultCacheFolder();
  if (!wanted.ok()) return std::nullopt;
  const Result<fs::path> folder = PrepareFolder(*wanted);
  return folder.ok() ? std::optional(*folder) : std::nullopt;
}

std::string MarkPrefix(const BackendDef& backend) {
  return fmt::format("looking-for-{}-", backend.name);
}

std::string RecordName(const BackendDef& backend) {
  return fmt::format("barred-driver-{}", backend.name);
}

// Leaves the backend out from now on; `what`: "crashed".
void Record(const fs::path& folder, const BackendDef& backend, std::string_view what) {
  const Descriptor file = OpenFileIn(folder, RecordName(backend), O_WRONLY | O_CREAT | O_TRUNC);
  const BlockedSizeSignal held;
  if (file.is_open()) static_cast<void>(::write(file.get(), what.data(), what.size()));
}

std::string Recorded(const fs::path& folder, const BackendDef& backend) {
  const Descriptor file = OpenFileIn(folder, RecordName(backend), O_RDONLY);
  struct stat info;
  if (!file.is_open() || ::fstat(file.get(), &info) != 0 || !S_ISREG(info.st_mode)) return {};
  if (info.st_mtim.tv_sec + kLeftOutSeconds < std::time(nullptr)) return {};
  std::string what(80, '\0');
  what.resize(static_cast<size_t>(std::max<ssize_t>(0, ::read(file.get(), what.data(), what.size()))));
  std::erase_if(what, [](char letter) { return letter < ' ' || letter > '~'; });
  return fmt::format(
      "its driver {0} while its devices were looked for on {1:%Y-%m-%d}, so it is left out until {2:%Y-%m-%d}: after "
      "mending the driver, {3}=+{4} tries it again; {3}=-{4} leaves it out for good",
      what, fmt::gmtime(info.st_mtim.tv_sec), fmt::gmtime(info.st_mtim.tv_sec + kLeftOutSeconds), kVariable,
      backend.name);
}

// Whether a process has died while it looked. Removes what it left.
bool TakeDeadMarks(const fs::path& folder, const BackendDef& backend) {
  bool has_died = false;
  ForEachDeadFile(folder, MarkPrefix(backend),
                  [&](const LockedFile& file) { has_died = ::unlink(file.path.c_str()) == 0 || has_died; });
  return has_died;
}

std::string SlowText(std::chrono::milliseconds limit) {
  return fmt::format("did not answer within {} s", static_cast<double>(limit.count()) / 1000);
}

// What the driver did in a forked child; empty if it found its devices, or none.
std::string FailureOfChild(const BackendDef& backend, std::chrono::milliseconds limit) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return {};
  const Descriptor read_end(ends[0]);
  Descriptor write_end(ends[1]);
  const pid_t child = ::fork();
  if (child < 0) return {};
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    const rlimit none{0, 0};
    ::setrlimit(RLIMIT_CORE, &none);
    for (const int fatal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) ::signal(fatal, SIG_DFL);
    static_cast<void>(backend.enumerate());
    static_cast<void>(::write(write_end.get(), "k", 1));
    ::_exit(0);
  }
  write_end = Descriptor();
  pollfd waiting{read_end.get(), POLLIN, 0};
  int answered = 0;
  do {
    answered = ::poll(&waiting, 1, static_cast<int>(limit.count()));
  } while (answered < 0 && errno == EINTR);
  char letter = 0;
  const bool is_well = answered > 0 && ::read(read_end.get(), &letter, 1) == 1;
  ::kill(child, SIGKILL);
  while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
  if (is_well) return {};
  return answered == 0 ? SlowText(limit) : "crashed";
}

// On a thread that stays behind if the driver does not return; then nullopt.
std::optional<std::vector<DeviceCandidate>> EnumerateInTime(const BackendDef& backend,
                                                            std::chrono::milliseconds limit) {
  struct Work {
    std::mutex mutex;
    std::condition_variable changed;
    std::optional<std::vector<DeviceCandidate>> found;
  };
  const auto work = std::make_shared<Work>();
  std::thread thread;
  const Status started = StartThread(thread, [work, enumerate = backend.enumerate] {
    std::vector<DeviceCandidate> found = enumerate();
    const std::scoped_lock lock(work->mutex);
    work->found = std::move(found);
    work->changed.notify_all();
  });
  if (!started.ok()) return backend.enumerate();
  std::unique_lock lock(work->mutex);
  work->changed.wait_for(lock, limit, [&] { return work->found.has_value(); });
  std::optional<std::vector<DeviceCandidate>> found = std::move(work->found);
  lock.unlock();
  found ? thread.join() : thread.detach();
  return found;
}

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

std::vector<DeviceCandidate> EnumerateWatched(const BackendDef& backend, std::chrono::milliseconds limit) {
  if (backend.is_host()) return backend.enumerate();
  const Wish wish = WishFor(backend);
  if (wish == Wish::kLeaveOut) return LeftOut(backend, fmt::format("{} leaves it out", kVariable));
  const std::optional<fs::path> folder = WatchFolder();
  LockedFile mark;
  if (folder) {
    if (backend.give_folder != nullptr) backend.give_folder(*folder);
    const bool has_died = TakeDeadMarks(*folder, backend);
    if (has_died && wish == Wish::kNone && Recorded(*folder, backend).empty()) {
      if (const std::string what = FailureOfChild(backend, limit); !what.empty()) Record(*folder, backend, what);
    }
    std::string reason = wish == Wish::kNone ? Recorded(*folder, backend) : "";
    if (!reason.empty()) return LeftOut(backend, std::move(reason));
    mark = MakeLockedFile(*folder, MarkPrefix(backend));
  }
  std::optional<std::vector<DeviceCandidate>> found = EnumerateInTime(backend, limit);
  if (mark.descriptor.is_open()) ::unlink(mark.path.c_str());
  if (!found) {
    if (folder) Record(*folder, backend, SlowText(limit));
    return LeftOut(backend, "its driver " + SlowText(limit));
  }
  if (folder && wish == Wish::kTryAgain) ::unlink((*folder / RecordName(backend)).c_str());
  return *std::move(found);
}

std::string WhyLeftOut(const BackendDef& backend) {
  if (backend.is_host() || WishFor(backend) != Wish::kNone) return {};
  const std::optional<fs::path> folder = WatchFolder();
  return folder ? Recorded(*folder, backend) : "";
}

void LookInAChildFirst(std::span<const BackendDef> backends) {
  const std::optional<fs::path> folder = WatchFolder();
  for (const BackendDef& backend : backends) {
    if (!folder || backend.is_host() || WishFor(backend) == Wish::kLeaveOut) continue;
    if (!Recorded(*folder, backend).empty()) continue;
    if (const std::string what = FailureOfChild(backend, std::chrono::seconds(30)); !what.empty())
      Record(*folder, backend, what);
  }
}

std::string WrongBackendsVariable() {
  for (const std::string_view word : WishesIn(EnvironmentVariable(kVariable))) {
    const bool is_known = (word[0] == '-' || word[0] == '+') && FindGpuBackend(word.substr(1)) != nullptr;
    if (!is_known) {
      return fmt::format(
          "{} has '{}'; it takes -NAME, which leaves a backend out, and +NAME, which tries one again: {}", kVariable,
          word, fmt::join(BackendNames(), ", "));
    }
  }
  return {};
}

std::vector<DeviceCandidate> EnumerateUnlessForked(const BackendDef& backend) {
  Use* const use = backend.is_host() ? nullptr : UseOf(backend);
  if (use != nullptr && IsFork(*use)) {
    return LeftOut(backend, WhyNotHere(backend, *use));
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
