// hearth cache path|ls|show|stats|verify|clear: looks after the cache.
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <ctime>
#include <filesystem>
#include <iostream>
#include <optional>

#include "cache/folder.h"
#include "cache/reports.h"
#include "core/error.h"
#include "tools/hearth/printing.h"
#include "tools/hearth/verb.h"

namespace hearth {
namespace {

constexpr size_t kShortDigest = 12;  // hex digits that lists show

std::vector<std::string> KindNames() {
  std::vector<std::string> names;
  for (int kind = 0; kind < kBlobKindCount; ++kind) names.emplace_back(BlobKindName(static_cast<BlobKind>(kind)));
  return names;
}

std::optional<BlobKind> KindFromName(const std::string& name) {
  for (int kind = 0; kind < kBlobKindCount; ++kind) {
    if (BlobKindName(static_cast<BlobKind>(kind)) == name) return static_cast<BlobKind>(kind);
  }
  return std::nullopt;
}

std::string TimeText(int64_t milliseconds_since_1970) {
  const std::time_t seconds = static_cast<std::time_t>(milliseconds_since_1970 / 1000);
  std::tm local{};
  if (localtime_r(&seconds, &local) == nullptr) return "?";
  return fmt::format("{:%Y-%m-%d %H:%M:%S}", local);
}

Json JsonOf(const EntryInfo& entry) {
  Json key = Json::object();
  for (const auto& [field, value] : entry.fields) key[field] = value;
  return {{"kind", entry.kind},       {"digest", entry.digest.ToHex()}, {"size_bytes", entry.size_bytes},
          {"cost_ms", entry.cost_ms}, {"created_ms", entry.created_ms}, {"last_used_ms", entry.last_used_ms},
          {"key", std::move(key)}};
}

// A damaged store is found, not given: exit code 1, not 3.
Status AsStoreTrouble(const Status& status) {
  if (status.code() != StatusCode::kMalformedInput) return status;
  return Status(StatusCode::kIoError, status.message() + "; `hearth cache verify --repair` mends it");
}

class CacheCommand final : public Verb {
 public:
  CacheCommand() : Verb({"cache", "Looks after the cache", "hearth cache ls --kind program"}) {}

  void AddOptions(CLI::App& app) override {
    app.require_subcommand(1);
    AddPart(app, "path", "Where the cache is", "hearth cache path");
    CLI::App* ls =
        AddPart(app, "ls", "The entries, most recently used first", "hearth cache ls --kind weights --json -");
    AddKindOption(*ls);
    CLI::App* show = AddPart(app, "show", "One entry with its full key", "hearth cache show 1f2e3d");
    show->add_option("DIGEST", digest_, "The first hex digits of an entry's digest")->required()->type_name("");
    AddPart(app, "stats", "Sizes by kind, and what the cache was good for", "hearth cache stats");
    CLI::App* verify = AddPart(app, "verify", "Reads everything and checks it; exit code 1 where damage was found",
                               "hearth cache verify --repair");
    verify->add_flag("--repair", repair_, "Delete damaged entries, move a damaged file aside");
    CLI::App* clear = AddPart(app, "clear", "Deletes the entries", "hearth cache clear --kind program --yes");
    AddKindOption(*clear);
    clear->add_flag("--yes", yes_, "Don't ask (needed where there is no terminal)");
    app_ = &app;
  }

  Result<ExitCode> Run() override {
    folder_ = folder_option_;
    if (folder_.empty()) {
      HEARTH_ASSIGN(folder_, DefaultCacheFolder());
    }
    Result<ExitCode> code = RunPart(app_->get_subcommands().front()->get_name());
    return code.ok() ? code : Result<ExitCode>(AsStoreTrouble(code.status()));
  }

 private:
  CLI::App* AddPart(CLI::App& app, const std::string& name, const std::string& description,
                    const std::string& example) {
    CLI::App* part = app.add_subcommand(name, description);
    part->add_option("--cache", folder_option_,
                     "Cache folder (default $HEARTH_CACHE_DIR, $XDG_CACHE_HOME/hearth or ~/.cache/hearth)")
        ->type_name("DIR");
    output_.AddOptions(*part);
    part->footer("Example:\n  " + example);
    return part;
  }

  void AddKindOption(CLI::App& part) {
    part.add_option("--kind", kind_, "Only entries of this kind")->check(CLI::IsMember(KindNames()))->type_name("KIND");
  }

  EntryFilter Filter() const {
    EntryFilter filter;
    filter.kind = KindFromName(kind_);
    return filter;
  }

  Result<ExitCode> RunPart(const std::string& part) {
    if (part == "path") return Path();
    if (part == "ls") return List();
    if (part == "show") return Show();
    if (part == "stats") return Stats();
    if (part == "verify") return Verify();
    HEARTH_CHECK(part == "clear");
    return Clear();
  }

  // The folder that a session would use, without making it.
  Result<ExitCode> Path() {
    const Result<std::filesystem::path> existing = PrepareFolder(folder_, FolderUse::kExisting);
    std::filesystem::path folder = folder_;
    if (existing.ok()) {
      folder = existing.value();
    } else if (existing.status().code() != StatusCode::kNotFound) {
      return existing.status();
    }
    std::error_code error;
    const std::filesystem::path file = folder / kStoreFileName;
    output_.PrintText(folder.string() + "\n");
    HEARTH_TRY(output_.WriteJson(
        {{"folder", folder.string()}, {"file", file.string()}, {"exists", std::filesystem::exists(file, error)}}));
    return ExitCode::kFine;
  }

  Result<ExitCode> List() {
    HEARTH_ASSIGN(const std::vector<EntryInfo> entries, ListEntries(folder_, Filter()));
    TextTable table({{"kind"},
                     {"digest"},
                     {"size", TextTable::Align::kRight},
                     {"cost, ms", TextTable::Align::kRight},
                     {"last used"}});
    Json list = Json::array();
    uint64_t total_bytes = 0;
    for (const EntryInfo& entry : entries) {
      table.AddRow({entry.kind, entry.digest.ToHex().substr(0, kShortDigest), BytesText(entry.size_bytes),
                    fmt::format("{:.1f}", entry.cost_ms), TimeText(entry.last_used_ms)});
      list.push_back(JsonOf(entry));
      total_bytes += entry.size_bytes;
    }
    if (!entries.empty()) output_.PrintText(table.ToString());
    output_.PrintText(fmt::format("{} entries, {}\n", entries.size(), BytesText(total_bytes)));
    HEARTH_TRY(output_.WriteJson({{"folder", folder_.string()}, {"entries", std::move(list)}}));
    return ExitCode::kFine;
  }

  Result<ExitCode> Show() {
    HEARTH_ASSIGN(const EntryInfo entry, ShowEntry(folder_, digest_));
    TextTable table({{""}, {""}});
    table.AddRow({"kind", entry.kind});
    table.AddRow({"digest", entry.digest.ToHex()});
    table.AddRow({"size", fmt::format("{} bytes", entry.size_bytes)});
    table.AddRow({"cost", fmt::format("{:.1f} ms to make", entry.cost_ms)});
    table.AddRow({"created", TimeText(entry.created_ms)});
    table.AddRow({"last used", TimeText(entry.last_used_ms)});
    for (const auto& [field, value] : entry.fields) table.AddRow({"key: " + field, value});
    output_.PrintText(table.ToString());
    HEARTH_TRY(output_.WriteJson(JsonOf(entry)));
    return ExitCode::kFine;
  }

  Result<ExitCode> Stats() {
    HEARTH_ASSIGN(const StoreStats stats, ReadStoreStats(folder_));
    TextTable table({{"kind"}, {"entries", TextTable::Align::kRight}, {"size", TextTable::Align::kRight}});
    Json kinds = Json::object();
    for (int kind = 0; kind < kBlobKindCount; ++kind) {
      const KindStats& of_kind = stats.kinds[kind];
      const std::string name(BlobKindName(static_cast<BlobKind>(kind)));
      table.AddRow({name, std::to_string(of_kind.entries), BytesText(of_kind.blob_bytes)});
      kinds[name] = {{"entries", of_kind.entries}, {"blob_bytes", of_kind.blob_bytes}};
    }
    table.AddRow({"all", std::to_string(stats.entries), BytesText(stats.blob_bytes)});
    const StoreCounters& life = stats.lifetime;
    output_.PrintText(
        fmt::format("{}, {} on disk\n{}", stats.file.string(), BytesText(stats.file_bytes), table.ToString()));
    output_.PrintText(fmt::format(
        "since it was made: {} hits, {} misses, {} rejected, {} put errors; {} read, {} written; {:.0f} ms saved\n",
        life.hits, life.misses, life.rejected, life.put_errors, BytesText(life.bytes_read),
        BytesText(life.bytes_written), life.milliseconds_saved));
    if (stats.quarantined > 0)
      output_.PrintText(fmt::format("{} entries are in quarantine: a process died using them\n", stats.quarantined));
    HEARTH_TRY(output_.WriteJson({{"file", stats.file.string()},
                                  {"entries", stats.entries},
                                  {"blob_bytes", stats.blob_bytes},
                                  {"file_bytes", stats.file_bytes},
                                  {"quarantined", stats.quarantined},
                                  {"kinds", std::move(kinds)},
                                  {"lifetime",
                                   {{"hits", life.hits},
                                    {"misses", life.misses},
                                    {"rejected", life.rejected},
                                    {"put_errors", life.put_errors},
                                    {"bytes_read", life.bytes_read},
                                    {"bytes_written", life.bytes_written},
                                    {"milliseconds_saved", life.milliseconds_saved}}}}));
    return ExitCode::kFine;
  }

  Result<ExitCode> Verify() {
    HEARTH_ASSIGN(const VerifyReport report, VerifyStore(folder_, repair_));
    Json damages = Json::array();
    for (const Damage& damage : report.damages) {
      output_.PrintText(fmt::format("damaged: {}: {}\n", damage.where, damage.what));
      damages.push_back({{"where", damage.where}, {"what", damage.what}});
    }
    const std::string verdict = report.clean()    ? "all sound"
                                : report.repaired ? fmt::format("{} damaged, repaired", report.damages.size())
                                                  : fmt::format("{} damaged; --repair mends it", report.damages.size());
    output_.PrintText(
        fmt::format("{} entries, {} checked: {}\n", report.checked_entries, BytesText(report.checked_bytes), verdict));
    HEARTH_TRY(output_.WriteJson({{"folder", folder_.string()},
                                  {"checked_entries", report.checked_entries},
                                  {"checked_bytes", report.checked_bytes},
                                  {"clean", report.clean()},
                                  {"repaired", report.repaired},
                                  {"damages", std::move(damages)}}));
    return report.clean() ? ExitCode::kFine : ExitCode::kFailed;
  }

  // What Clear is about to delete, for people. A damaged store has no list; clearing moves it aside.
  std::string Announcement() const {
    const Result<std::vector<EntryInfo>> entries = ListEntries(folder_, Filter());
    if (!entries.ok())
      return fmt::format("the store in {}, which is damaged ({})", folder_.string(), entries.status().message());
    uint64_t bytes = 0;
    for (const EntryInfo& entry : entries.value()) bytes += entry.size_bytes;
    return fmt::format("{} entries{} ({}) of the cache in {}", entries->size(),
                       kind_.empty() ? "" : " of kind " + kind_, BytesText(bytes), folder_.string());
  }

  Result<ExitCode> Clear() {
    const std::string announcement = Announcement();
    if (!yes_) {
      if (isatty(STDIN_FILENO) == 0) {
        PrintError(fmt::format("this would delete {}; say --yes to do it without being asked", announcement));
        return ExitCode::kUsage;
      }
      fmt::print(stderr, "This deletes {}. Go on? [y/N] ", announcement);
      std::string answer;
      if (!std::getline(std::cin, answer) || (answer != "y" && answer != "Y" && answer != "yes")) {
        PrintError("nothing was deleted: the answer was not yes");
        return ExitCode::kFailed;
      }
    } else {
      output_.PrintText(fmt::format("deleting {}\n", announcement));
    }
    HEARTH_ASSIGN(const RemovedEntries removed, ClearStore(folder_, Filter()));
    output_.PrintText(fmt::format("{} entries deleted, {}\n", removed.entries, BytesText(removed.blob_bytes)));
    HEARTH_TRY(output_.WriteJson(
        {{"folder", folder_.string()}, {"removed_entries", removed.entries}, {"removed_bytes", removed.blob_bytes}}));
    return ExitCode::kFine;
  }

  CLI::App* app_ = nullptr;
  OutputOptions output_;
  std::string folder_option_, kind_, digest_;
  std::filesystem::path folder_;
  bool repair_ = false, yes_ = false;
};

}  // namespace

std::unique_ptr<Verb> MakeCacheCommand() {
  return std::make_unique<CacheCommand>();
}

}  // namespace hearth
