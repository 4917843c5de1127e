#include "cache/store/making_claim.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <ctime>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "cache/files/folder.h"
#include "cache/files/locked_file.h"
#include "core/base/blocked_signal.h"
#include "core/base/descriptor.h"

namespace hearth {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kClaimPrefix = "making-";
constexpr double kClaimPollMs = 2;
// Where a file's link count is always 0 or can't be read, as on some mounts of FUSE and NFS, nobody makes claims.
constexpr int kMostUnlinked = 16;
constexpr double kMaxClaimAgeS = 10;  // a session that is opened and never runs must not block others for ever

class FileClaim final : public MakingClaim {
 public:
  FileClaim(fs::path file, Descriptor descriptor) : file_(std::move(file)), descriptor_(std::move(descriptor)) {}
  ~FileClaim() override {
    if (::getpid() == maker_) ::unlink(file_.c_str());  // before the lock: the next maker needs its own file
  }

 private:
  fs::path file_;
  Descriptor descriptor_;
  pid_t maker_ = ::getpid();  // a forked child has a copy
};

// Whether the file still has its name in the folder.
bool IsLinked(const Descriptor& descriptor) {
  struct stat info;
  return ::fstat(descriptor.get(), &info) == 0 && info.st_nlink > 0;
}

// Whether a process is stopped, by a signal or by a debugger: the third word of its stat, after the name in brackets.
bool IsStopped(pid_t process) {
  std::array<char, 512> text{};
  const Descriptor stat(::open(("/proc/" + std::to_string(process) + "/stat").c_str(), O_RDONLY | O_CLOEXEC));
  if (!stat.is_open() || ::read(stat.get(), text.data(), text.size() - 1) <= 0) return false;
  const std::string_view words(text.data());
  const size_t bracket = words.rfind(')');
  const char state = bracket + 2 < words.size() ? words[bracket + 2] : ' ';
  return state == 'T' || state == 't';
}

double SecondsSince(const timespec& then) {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  // As real numbers: anybody can give a file a date whose distance from today overflows.
  const double seconds = static_cast<double>(now.tv_sec) - static_cast<double>(then.tv_sec);
  return seconds + static_cast<double>(now.tv_nsec - then.tv_nsec) * 1e-9;
}

// Whether the process that holds the lock is worth waiting for.
bool IsWorthWaiting(const Descriptor& descriptor) {
  std::array<char, 32> text{};
  struct stat info;
  if (::fstat(descriptor.get(), &info) != 0 || ::pread(descriptor.get(), text.data(), text.size() - 1, 0) < 0) {
    return false;
  }
  const double age_s = SecondsSince(info.st_mtim);
  const auto maker = static_cast<pid_t>(std::atol(text.data()));
  // A shared folder's server may be a little ahead of this machine's clock.
  return age_s >= -1 && age_s < kMaxClaimAgeS && maker != ::getpid() && !IsStopped(maker);
}

}  // namespace

MakingTurn StoreMakingClaims::Take(const CacheKey& key) {
  if (connection_.IsForked()) return {};
  {
    const std::scoped_lock lock(connection_.mutex());
    if (!connection_.is_writable()) return {};
  }
  MakingTurn turn = TakeFile(key);
  // The maker may have finished between the look-up and the claim.
  if (!turn.has_waited) turn.has_waited = Has(key.digest());
  return turn;
}

bool StoreMakingClaims::Has(const Fingerprint& digest) {
  const std::scoped_lock lock(connection_.mutex());
  if (connection_.database() == nullptr) return false;
  Result<Statement> row = connection_.database()->Prepare("SELECT 1 FROM entries WHERE digest=?");
  if (!row.ok()) return false;
  const Result<bool> is_there = row->Bind(0, digest.bytes).Step();
  return is_there.ok() && *is_there;
}

// The highest cost of an entry of this kind among those used lately, for programs with that of their portable parts.
double StoreMakingClaims::KnownCostMs(BlobKind kind) {
  const std::scoped_lock lock(connection_.mutex());
  constexpr double kUnknown = std::numeric_limits<double>::infinity();
  if (connection_.database() == nullptr) return kUnknown;
  Result<Statement> latest = connection_.database()->Prepare(
      "SELECT sum(cost) FROM (SELECT max(cost_ms) AS cost FROM (SELECT kind, cost_ms FROM entries"
      " ORDER BY last_used_ms DESC LIMIT 256) WHERE kind IN (?, ?) GROUP BY kind)");
  if (!latest.ok()) return kUnknown;
  const BlobKind other = kind == BlobKind::kProgram ? BlobKind::kSource : kind;
  const Result<bool> row = latest->Bind(0, BlobKindName(kind)).Bind(1, BlobKindName(other)).Step();
  const double cost_ms = row.ok() && *row ? latest->Real(0) : 0;
  return cost_ms > 0 ? cost_ms : kUnknown;
}

MakingTurn StoreMakingClaims::TakeFile(const CacheKey& key) {
  MakingTurn turn;
  std::optional<double> most_ms;
  int unlinked = 0;
  const auto start = std::chrono::steady_clock::now();
  const fs::path& folder = connection_.options().folder;
  const std::string name = std::string(kClaimPrefix) + key.digest().ToHex();
  while (true) {
    Descriptor descriptor = OpenFileIn(folder, name, O_RDWR | O_CREAT);
    if (!descriptor.is_open()) return turn;
    if (::flock(descriptor.get(), LOCK_EX | LOCK_NB) == 0) {
      if (!IsLinked(descriptor)) {  // its maker has finished between the two calls
        if (++unlinked == kMostUnlinked) return turn;
        continue;
      }
      const std::string text = std::to_string(::getpid()) + "\n";
      const BlockedSizeSignal held;
      if (::ftruncate(descriptor.get(), 0) != 0 || ::pwrite(descriptor.get(), text.data(), text.size(), 0) < 0) {
        // On a full disk the lock alone counts: others wait as long as for its last writer.
      }
      turn.claim = std::make_unique<FileClaim>(folder / name, std::move(descriptor));
      return turn;
    }
    if (!IsWorthWaiting(descriptor)) return turn;
    if (!most_ms) most_ms = KnownCostMs(key.kind());
    using Milliseconds = std::chrono::duration<double, std::milli>;
    const double waited_ms = Milliseconds(std::chrono::steady_clock::now() - start).count();
    if (waited_ms >= *most_ms || !connection_.waits().makers.Sleep(kClaimPollMs)) return turn;
    turn.has_waited = true;
  }
}

void RemoveDeadClaims(const fs::path& folder) {
  ForEachDeadFile(folder, kClaimPrefix, [](const LockedFile& file) { ::unlink(file.path.c_str()); });
}

}  // namespace hearth
