#include "cache/making_claim.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <ctime>
#include <string>
#include <string_view>
#include <thread>

namespace hearth {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "making-";
constexpr int kPollMs = 2;
constexpr std::time_t kMaxClaimAgeS = 10;  // a session that was opened and never runs must not hold up others for ever

class FileClaim final : public MakingClaim {
 public:
  FileClaim(fs::path file, Descriptor descriptor) : file_(std::move(file)), descriptor_(std::move(descriptor)) {}
  ~FileClaim() override { ::unlink(file_.c_str()); }  // before the lock goes: the next one makes a file of its own

 private:
  fs::path file_;
  Descriptor descriptor_;
};

bool Lock(const Descriptor& descriptor) {
  return ::flock(descriptor.get(), LOCK_EX | LOCK_NB) == 0;
}

// Whether the file is still the one in the folder.
bool IsLinked(const Descriptor& descriptor) {
  struct stat info;
  return ::fstat(descriptor.get(), &info) == 0 && info.st_nlink > 0;
}

// Whether the process that holds the lock is worth waiting for.
bool IsWorthWaiting(const Descriptor& descriptor) {
  std::array<char, 32> text{};
  struct stat info;
  if (::fstat(descriptor.get(), &info) != 0 || ::pread(descriptor.get(), text.data(), text.size() - 1, 0) < 0) {
    return false;
  }
  const std::time_t age_s = std::time(nullptr) - info.st_mtime;
  return age_s >= 0 && age_s < kMaxClaimAgeS && std::atol(text.data()) != ::getpid();
}

}  // namespace

MakingTurn MakingClaims::Take(const Fingerprint& digest) {
  MakingTurn turn;
  const fs::path file = folder_ / (std::string(kPrefix) + digest.ToHex());
  while (true) {
    Descriptor descriptor(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600));
    if (!descriptor.is_open()) return turn;
    if (Lock(descriptor)) {
      if (!IsLinked(descriptor)) continue;  // its maker finished between the two calls
      const std::string text = std::to_string(::getpid()) + "\n";
      if (::ftruncate(descriptor.get(), 0) != 0 || ::pwrite(descriptor.get(), text.data(), text.size(), 0) < 0) {
        // A full disk: the lock counts all the same, and others wait until its last writer's time is over.
      }
      turn.claim = std::make_unique<FileClaim>(file, std::move(descriptor));
      return turn;
    }
    if (!IsWorthWaiting(descriptor) || wait_left_ms_.fetch_sub(kPollMs) <= 0) return turn;
    turn.has_waited = true;
    std::this_thread::sleep_for(std::chrono::milliseconds(kPollMs));
  }
}

void RemoveDeadClaims(const fs::path& folder) {
  const std::unique_ptr<DIR, int (*)(DIR*)> listing(::opendir(folder.c_str()), ::closedir);
  if (listing == nullptr) return;
  while (const dirent* entry = ::readdir(listing.get())) {
    if (!std::string_view(entry->d_name).starts_with(kPrefix)) continue;
    const fs::path file = folder / entry->d_name;
    const Descriptor descriptor(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    if (descriptor.is_open() && Lock(descriptor)) ::unlink(file.c_str());
  }
}

}  // namespace hearth
