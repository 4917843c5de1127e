// What is wrong with a cache, what it costs and what repairs it.
#include <fmt/chrono.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <ctime>
#include <string>
#include <utility>

#include "cache/desk/report_access.h"
#include "cache/desk/reports.h"
#include "cache/files/folder.h"
#include "cache/files/store_names.h"
#include "cache/files/trusted_path.h"
#include "cache/store/budget.h"
#include "cache/store/entry_row.h"
#include "cache/store/last_misses.h"
#include "cache/store/models.h"
#include "cache/store/session_records.h"
#include "core/base/error.h"

namespace hearth {
namespace {

namespace fs = std::filesystem;
using Findings = std::vector<CacheFinding>;

constexpr int kLockWaitMs = 100;
constexpr uint64_t kLittleSpaceBytes = uint64_t{64} << 20;
constexpr const char* kNoCache = "each start is cold";
constexpr const char* kNothingNew = "nothing new is stored";
constexpr const char* kRepair = "hearth cache verify --repair";
constexpr const char* kElsewhere = "export HEARTH_CACHE_DIR=/a/folder/of/a/local/disk";

std::string MegabytesText(uint64_t bytes) {
  return fmt::format("{:.1f} MB", static_cast<double>(bytes) / 1e6);
}

void Sound(Findings& findings, std::string what) {
  findings.push_back({false, std::move(what), "", ""});
}
void Trouble(Findings& findings, std::string what, std::string cost, std::string command) {
  findings.push_back({true, std::move(what), std::move(cost), std::move(command)});
}

bool IsMountedReadOnly(const fs::path& path) {
  struct statvfs disk = {};
  return ::statvfs(path.c_str(), &disk) == 0 && (disk.f_flag & ST_RDONLY) != 0;
}

void LookAtFolder(const fs::path& folder, Findings& findings) {
  struct stat info = {};
  if (::lstat(folder.c_str(), &info) != 0) return;
  const Result<Trust> trust = Trust::OfEnvironment();
  const std::string also = !trust.ok()       ? ""
                           : trust->everyone ? ", or whoever else can reach them (HEARTH_CACHE_TRUST)"
                           : trust->group ? fmt::format(", or members of group {} (HEARTH_CACHE_TRUST)", *trust->group)
                                          : "";
  Sound(findings,
        fmt::format("{} and all folders above it belong to user {} or root{}, and nobody else may write there "
                    "(mode {:04o})",
                    folder.string(), info.st_uid, also, info.st_mode & 07777));
  if (IsMountedReadOnly(folder)) {
    Trouble(findings, fmt::format("{} is on a file system that is mounted read-only", folder.string()), kNothingNew,
            kElsewhere);
  } else if (::access(folder.c_str(), W_OK) != 0) {
    Trouble(findings, fmt::format("{} can't be written", folder.string()), kNothingNew,
            fmt::format("chmod u+rwx '{}'", folder.string()));
  }
  if (SupportsWriteAheadLog(folder)) return;
  Trouble(findings, fmt::format("{} is on a network or user-space file system", folder.string()),
          "without a write-ahead log, readers and writers wait for each other", kElsewhere);
}

void LookAtDisk(const fs::path& folder, Findings& findings) {
  struct statvfs disk = {};
  if (::statvfs(folder.c_str(), &disk) != 0 || (disk.f_flag & ST_RDONLY) != 0) return;
  const Lack lack = LackIn(folder);
  if (lack == Lack::kInodes || lack == Lack::kQuota) {
    Trouble(findings, fmt::format("{}: {}", folder.string(), FullDiskText(folder)), kNothingNew, kElsewhere);
  }
  const uint64_t free_bytes = uint64_t{disk.f_bavail} * disk.f_frsize;
  if (free_bytes >= kLittleSpaceBytes) {
    Sound(findings, fmt::format("{} are free on its disk", MegabytesText(free_bytes)));
    return;
  }
  const bool would_shrink = BytesWithLog(folder / kStoreFileName) > kLittleSpaceBytes;
  Trouble(findings, fmt::format("only {} are free on its disk", MegabytesText(free_bytes)), "nothing new may be stored",
          would_shrink ? "hearth cache prune --max-size 64M --yes" : kElsewhere);
}

void LookAtLock(const fs::path& folder, Findings& findings) {
  if (!HasLocks(folder)) {
    Trouble(findings, fmt::format("{} is on a file system without locks", folder.string()), kNothingNew, kElsewhere);
    return;
  }
  const fs::path file = folder / kLockFileName;
  std::error_code error;
  const fs::file_type type = fs::symlink_status(file, error).type();
  if (type != fs::file_type::regular && type != fs::file_type::not_found) {
    Trouble(findings, fmt::format("{} is not a file", file.string()), "processes can't keep out of each other's way",
            fmt::format("rm -r '{}'", file.string()));
    return;
  }
  WaitBudget waits(kLockWaitMs);
  if (FolderLock::Take(folder, FolderLock::Mode::kExclusive, waits).ok()) return;
  Trouble(findings, fmt::format("another process keeps {} locked", file.string()),
          "each start waits for it, 250 ms at most, and then goes on without the cache",
          fmt::format("fuser -v '{}'", file.string()));
}

void LookAtDatabase(Database& database, Findings& findings) {
  const Result<std::string> mode = database.Text("PRAGMA journal_mode");
  Sound(findings, fmt::format("{} can be opened; its journal mode is {}", database.file().string(),
                              mode.ok() ? *mode : mode.status().message()));
  if (database.read_only() && ::access(database.file().c_str(), W_OK) != 0 && !IsMountedReadOnly(database.file())) {
    Trouble(findings, fmt::format("{} can only be read", database.file().string()), kNothingNew,
            fmt::format("chmod u+rw '{}'", database.file().string()));
  }
  const int64_t tomorrow_ms = NowMs() + int64_t{24} * 60 * 60 * 1000;
  if (const int64_t latest_ms = LatestTimeMs(database); latest_ms > tomorrow_ms) {
    Trouble(
        findings,
        fmt::format("the cache has seen {:%Y-%m-%d}, which this machine's clock has not reached: the clock is wrong "
                    "now, or was wrong then; `hearth cache clear` forgets that day",
                    fmt::gmtime(static_cast<std::time_t>(latest_ms / 1000))),
        "bundles that expire before that day are refused", "date");
  }
  const Result<int64_t> future =
      database.Number(fmt::format("SELECT count(*) FROM entries WHERE last_used_ms > {}", tomorrow_ms));
  if (!future.ok() || *future == 0) return;
  Trouble(findings, fmt::format("{} entries were last used in the future: a clock is or was wrong", *future),
          "they are evicted late; the next eviction corrects them", "date");
}

// What can't be evicted may need more than the limit: pruning would not help.
void LookAtLimit(const CacheStats& stats, uint64_t max_bytes, const LeastSize& least, Findings& findings) {
  if (const std::string needs = WhyTooSmall(least, max_bytes); !needs.empty()) {
    Trouble(findings, fmt::format("the limit of {} bytes has no room for new entries: {}", max_bytes, needs),
            kNothingNew, fmt::format("export HEARTH_CACHE_MAX_SIZE={}M", LeastLimitMiB(least)));
  } else if (stats.file_bytes > max_bytes) {
    Trouble(findings, "the store is larger than its limit", "each new entry evicts others", "hearth cache prune --yes");
  }
}

void LookAtStats(const CacheStats& stats, uint64_t max_bytes, Findings& findings) {
  Sound(findings, fmt::format("{} entries, {} on disk, limit {}", stats.entries, MegabytesText(stats.file_bytes),
                              MegabytesText(max_bytes)));
  if (stats.damaged_bytes > 0) {
    Trouble(findings, fmt::format("a damaged file of {} is kept", MegabytesText(stats.damaged_bytes)),
            "it counts against the limit", "hearth cache clear --yes");
  }
  if (stats.other_formats_bytes > 0) {
    Sound(findings, fmt::format("stores of other versions of Hearth take {}; they are removed when unused for a week",
                                MegabytesText(stats.other_formats_bytes)));
  }
}

void LookAtQuarantine(const std::vector<CacheQuarantine>& quarantine, Findings& findings) {
  for (const CacheQuarantine& record : quarantine) {
    if (!record.is_barred) continue;
    Trouble(findings,
            fmt::format("{} runs died while they were using entry {} ({})", record.deaths, record.digest.substr(0, 12),
                        record.kind.empty() ? "of a layer" : record.kind),
            fmt::format("it is made again at each start until {:%Y-%m-%d}",
                        fmt::gmtime(std::time_t{record.until_ms / 1000})),
            "hearth cache clear --quarantine --yes");
  }
}

// Moves away what has the store's name and is no file; empty if that is not the trouble.
std::string CommandForNoFile(const fs::path& store) {
  std::error_code error;
  const fs::file_type type = fs::symlink_status(store, error).type();
  if (error || type == fs::file_type::regular || type == fs::file_type::not_found) return "";
  return fmt::format("mv '{0}' '{0}.aside'", store.string());
}

// What the reports read.
Status ReadLists(Database& database) {
  HEARTH_TRY(ReadEntries(database, {}).status());
  HEARTH_TRY(ReadModels(database).status());
  HEARTH_TRY(ReadUses(database).status());
  return ReadLastMisses(database).status();
}

void LookAtContent(ReportedStore& store, uint64_t max_bytes, Findings& findings) {
  const Result<CacheStats> stats = ReadStats(store);
  if (stats.ok()) LookAtStats(*stats, max_bytes, findings);
  if (!store.database) return;
  if (const auto least = LeastSizeOf(*store.database); stats.ok() && least.ok()) {
    LookAtLimit(*stats, max_bytes, *least, findings);
  }
  const Status read = stats.ok() ? ReadLists(*store.database) : stats.status();
  if (read.ok()) {
    Sound(findings, "its lists can be read; not every byte was: `hearth cache verify` reads and checks everything");
    return;
  }
  Trouble(findings, read.Within(store.database->file().string()).message(), "a start that meets the damage is cold",
          read.code() == StatusCode::kMalformedInput ? kRepair : "");
}

void LookAtStore(const fs::path& folder, uint64_t max_bytes, Findings& findings) {
  Result<ReportedStore> store = OpenAsItIs(folder);
  if (!store.ok()) {
    const bool is_damaged = store.status().code() == StatusCode::kMalformedInput;
    Trouble(findings, store.status().message(), kNoCache,
            is_damaged ? kRepair : CommandForNoFile(folder / kStoreFileName));
    return;
  }
  if (!store->database) {
    Sound(findings, "there is no store yet");
  } else {
    LookAtDatabase(*store->database, findings);
  }
  LookAtContent(*store, max_bytes, findings);
  if (store->database) CloseStoreFile(store->database, store->options.folder, *store->waits);
  if (const auto quarantine = ListQuarantine(folder); quarantine.ok()) LookAtQuarantine(*quarantine, findings);
}

}  // namespace

std::vector<CacheFinding> ExamineCache(const fs::path& folder, uint64_t max_bytes) {
  Findings findings;
  const Result<fs::path> prepared = PrepareFolder(folder, FolderUse::kExisting);
  if (prepared.ok()) {
    LookAtFolder(*prepared, findings);
    LookAtDisk(*prepared, findings);
    LookAtLock(*prepared, findings);
    LookAtStore(*prepared, max_bytes, findings);
  } else if (prepared.status().code() == StatusCode::kNotFound) {
    Sound(findings, fmt::format("there is no {} yet: the first run makes it", folder.string()));
  } else {
    Trouble(findings, prepared.status().message(), kNoCache, "export HEARTH_CACHE_DIR=/a/folder/of/your/own");
  }
  return findings;
}

}  // namespace hearth
