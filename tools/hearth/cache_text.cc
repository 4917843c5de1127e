#include "tools/hearth/cache_text.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <ctime>
#include <filesystem>
#include <tuple>

#include "cache/files/folder.h"
#include "cache/store/entry_row.h"
#include "core/base/error.h"
#include "tools/hearth/pictures/page.h"
#include "tools/hearth/printing.h"

namespace hearth {
namespace {

constexpr size_t kShortDigest = 12;  // hex digits that lists show

std::string Short(const std::string& digest) {
  return digest.substr(0, kShortDigest);
}

std::string TimeText(int64_t milliseconds_since_1970) {
  const std::time_t seconds = static_cast<std::time_t>(milliseconds_since_1970 / 1000);
  std::tm local{};
  if (localtime_r(&seconds, &local) == nullptr) return "?";
  return fmt::format("{:%Y-%m-%d %H:%M:%S}", local);
}

// The entry's subject, as far as its key gives it in a few words.
std::string AboutText(const CacheEntry& entry) {
  std::string about;
  for (const char* field : {"device", "backend", "kernel", "shape"}) {
    size_t count = 0;
    std::string first;
    for (const auto& [name, value] : entry.fields) {
      if (name == field && count++ == 0) first = value;
    }
    if (count == 0 || (std::string_view(field) == "backend" && !about.empty())) continue;
    about += (about.empty() ? "" : ", ") + first + (count > 1 ? fmt::format(" and {} more", count - 1) : "");
  }
  return about;
}

std::string ValueText(const std::optional<std::string>& value) {
  return value ? "'" + *value + "'" : "nothing";
}

std::string FileName(const std::string& path) {
  return std::filesystem::path(path).filename().string();
}

// The misses of the last start that had some.
std::string LastMissesText(const std::vector<CacheMiss>& misses) {
  if (misses.empty()) return "";
  const int64_t when_ms = misses.front().when_ms;
  const auto count = std::ranges::count(misses, when_ms, &CacheMiss::when_ms);
  std::string text = fmt::format("the last start that compiled ({}) missed {} entr{}:\n", TimeText(when_ms), count,
                                 count == 1 ? "y" : "ies");
  for (const CacheMiss& miss : misses) {
    if (miss.when_ms != when_ms) continue;
    text += fmt::format("         {:<11} {}{}{}\n", miss.kind, miss.name, miss.name.empty() ? "" : "  ", miss.reason);
  }
  return text;
}

}  // namespace

std::string TextOf(const std::vector<CacheEntry>& entries) {
  TextTable table({"kind", "digest", ">size", ">cost, ms", "last used", "of"});
  uint64_t total_bytes = 0;
  for (const CacheEntry& entry : entries) {
    table.AddRow({entry.kind, Short(entry.digest), BytesText(entry.size_bytes), fmt::format("{:.1f}", entry.cost_ms),
                  TimeText(entry.last_used_ms), AboutText(entry)});
    AddSize(total_bytes, entry.size_bytes);
  }
  return fmt::format("{}{} entries, {}\n", entries.empty() ? "" : table.ToString(), entries.size(),
                     BytesText(total_bytes));
}

std::string TextOf(const CacheEntry& entry) {
  TextTable table({"", ""});
  table.AddRow({"kind", entry.kind});
  table.AddRow({"digest", entry.digest});
  table.AddRow({"size", fmt::format("{} bytes", entry.size_bytes)});
  table.AddRow({"cost", fmt::format("{:.1f} ms to make", entry.cost_ms)});
  table.AddRow({"created", TimeText(entry.created_ms)});
  table.AddRow({"last used", TimeText(entry.last_used_ms)});
  table.AddRow({"from", entry.origin});
  for (const auto& [field, value] : entry.fields) table.AddRow({"key: " + field, value});
  return table.ToString();
}

std::string TextOf(const CacheStats& stats) {
  TextTable table({"kind", ">entries", ">size"});
  for (const auto& [kind, of_kind] : stats.kinds) {
    table.AddRow({kind, std::to_string(of_kind.entries), BytesText(of_kind.blob_bytes)});
  }
  table.AddRow({"all", std::to_string(stats.entries), BytesText(stats.blob_bytes)});
  const StoreCounters& life = stats.lifetime;
  std::string text = fmt::format(
      "{}, {} on disk\n{}since it was made: {} hits, {} misses, {} rejected, {} put errors; {} read, {} written; "
      "{:.0f} ms saved\n",
      stats.file, BytesText(stats.file_bytes), table.ToString(), life.hits, life.misses, life.rejected, life.put_errors,
      BytesText(life.bytes_read), BytesText(life.bytes_written), life.milliseconds_saved);
  if (life.hit_rate()) {
    text += fmt::format(
        "{:.1f}% of what was looked up was there: {} in this cache ({:.0f} ms saved), {} in layers ({:.0f} ms saved), "
        "{} on a server ({:.0f} ms saved)\n",
        100 * *life.hit_rate(), life.own_hits(), life.own_milliseconds_saved(), life.layer_hits,
        life.layer_milliseconds_saved, life.server_hits, life.server_milliseconds_saved);
  }
  if (stats.quarantined > 0) {
    text += fmt::format(
        "{} entries are in quarantine: a process died using them; {} of them were in use at three deaths in a row and "
        "are made again at each start (`hearth cache clear --quarantine` lifts that)\n",
        stats.quarantined, stats.barred);
  }
  if (stats.damaged_bytes > 0) {
    text += fmt::format("a damaged file of {} was moved aside (`hearth cache clear` removes it)\n",
                        BytesText(stats.damaged_bytes));
  }
  if (stats.other_formats_bytes > 0) {
    text += fmt::format("stores of other versions of Hearth take {}; they are removed when unused for a week\n",
                        BytesText(stats.other_formats_bytes));
  }
  return text;
}

std::string TextOf(const std::vector<CacheModel>& models) {
  if (models.empty()) return "no models\n";
  TextTable table({"model", "fingerprint", ">entries", ">own", ">shared", "last used", ""});
  for (const CacheModel& model : models) {
    table.AddRow({model.path, Short(model.fingerprint), std::to_string(model.entries), BytesText(model.own_bytes),
                  BytesText(model.shared_bytes), TimeText(model.last_used_ms), model.is_pinned ? "pinned" : ""});
  }
  return table.ToString();
}

std::string PageOf(const CacheStats& stats, const std::vector<CacheModel>& models) {
  const auto bytes_bar = [](std::string label, uint64_t bytes, uint64_t entries) {
    return Bar{std::move(label), static_cast<double>(bytes), fmt::format("{}, {} entries", BytesText(bytes), entries)};
  };
  Page page("hearth cache");
  page.AddText(fmt::format("{}, {} on disk", stats.file, BytesText(stats.file_bytes)));
  std::vector<Bar> kinds, by_model, origins;
  for (const auto& [kind, of_kind] : stats.kinds) kinds.push_back(bytes_bar(kind, of_kind.blob_bytes, of_kind.entries));
  page.AddBars("Sizes by kind", kinds);
  for (const CacheModel& model : models)
    by_model.push_back(bytes_bar(model.path, model.own_bytes + model.shared_bytes, model.entries));
  page.AddBars("Sizes by model, with what it shares", by_model);
  const StoreCounters& life = stats.lifetime;
  for (const auto& [origin, hits, saved_ms] : {std::tuple{"this cache", life.own_hits(), life.own_milliseconds_saved()},
                                               {"layers", life.layer_hits, life.layer_milliseconds_saved},
                                               {"a server", life.server_hits, life.server_milliseconds_saved},
                                               {"nowhere", life.misses, 0.0}}) {
    origins.push_back({origin, static_cast<double>(hits), fmt::format("{} look-ups, {:.0f} ms saved", hits, saved_ms)});
  }
  page.AddBars("Where look-ups found their entries", origins);
  return page.ToString();
}

std::string TextOf(const std::vector<CacheFinding>& findings) {
  std::string text;
  for (const CacheFinding& finding : findings) {
    text += fmt::format("{} {}\n", finding.is_trouble ? "trouble:" : "fine:   ", finding.what);
    if (!finding.cost.empty()) text += fmt::format("         cost: {}\n", finding.cost);
    if (!finding.command.empty()) text += fmt::format("         mend: {}\n", finding.command);
  }
  return text;
}

std::string TextOf(const CacheVerification& verification, const std::string& folder) {
  std::error_code error;
  if (verification.clean() && !std::filesystem::exists(std::filesystem::path(folder) / kStoreFileName, error)) {
    return fmt::format("there is no cache in {}: nothing was checked\n", folder);
  }
  std::string text;
  for (const CacheDamage& damage : verification.damages) {
    text += fmt::format("damaged: {}: {}\n", damage.where, damage.what);
  }
  const size_t count = verification.damages.size();
  const std::string verdict = verification.clean()    ? "all sound"
                              : verification.repaired ? fmt::format("{} damaged, repaired", count)
                                                      : fmt::format("{} damaged; --repair repairs it", count);
  return text + fmt::format("{} entries, {} checked: {}\n", verification.checked_entries,
                            BytesText(verification.checked_bytes), verdict);
}

std::string TextOf(const CacheExplanation& explanation) {
  std::string text;
  if (!explanation.has_run) {
    text = fmt::format("{} never ran with this cache{}\n", explanation.model_path,
                       explanation.has_changed ? ": what did had other content" : "");
  }
  text += fmt::format("{} on {}: {} of {} entries are in the cache\n", explanation.model_path, explanation.device,
                      explanation.hits(), explanation.needs.size());
  for (const CacheNeed& need : explanation.needs) {
    text += fmt::format("{:<8} {:<11} {}{}{}\n", need.is_hit ? "hit" : "miss", need.kind, Short(need.digest),
                        need.reason.empty() ? "" : "  ", need.reason);
    for (const CacheKeyDifference& difference : need.differences) {
      text += fmt::format("{:21}{}: {} wanted, {} stored\n", "", difference.part, ValueText(difference.wanted),
                          ValueText(difference.stored));
    }
  }
  return text + LastMissesText(explanation.last_misses);
}

std::string TextOf(const std::vector<WarmResult>& results) {
  TextTable table({"model", "device", ">compiled", ">loaded", ">stored", ">ms", "result"});
  for (const WarmResult& result : results) {
    table.AddRow({FileName(result.model_path), result.device, std::to_string(result.compiled),
                  std::to_string(result.loaded), BytesText(result.bytes_written),
                  fmt::format("{:.0f}", result.milliseconds), result.status.ok() ? "warm" : result.status.message()});
  }
  return table.ToString();
}

std::string TextOf(const RewarmResult& result) {
  std::string text = result.results.empty() ? "the cache holds no plan for these devices\n" : TextOf(result.results);
  for (const ModelNeeded& model : result.needed) {
    text += fmt::format("needs the model: {} on {}: {}; `hearth cache warm` with it\n", model.model_path, model.device,
                        model.reason);
  }
  return text;
}

std::string TextOf(const BundleExport& bundle) {
  std::string text = fmt::format("{}: {} entries, {}, {} of them native programs; {}\n", bundle.folder, bundle.entries,
                                 BytesText(bundle.blob_bytes), bundle.native_entries,
                                 bundle.signed_by.empty() ? "not signed" : "signed by " + bundle.signed_by);
  if (bundle.damaged_entries > 0) text += fmt::format("{} damaged entries were left out\n", bundle.damaged_entries);
  if (bundle.programs_without_source > 0) {
    text += fmt::format("{} programs whose SPIR-V is gone were left out: `hearth cache warm` with their models\n",
                        bundle.programs_without_source);
  }
  if (!bundle.signed_by.empty() && bundle.from_others > 0) {
    text += fmt::format(
        "{} of them come from others ({}) and are now signed by this key, so revoking theirs finds nothing where the "
        "bundle is imported: leave them out with `--from here`\n",
        bundle.from_others,
        bundle.other_keys.empty() ? "nobody signed them" : fmt::format("key {}", fmt::join(bundle.other_keys, ", ")));
  }
  if (bundle.revoked_entries > 0) {
    text += fmt::format("{} entries that a revoked key has signed were left out\n", bundle.revoked_entries);
  }
  for (const CacheDevice& device : bundle.devices) {
    text += fmt::format("for {} {}, driver {}\n", device.backend, device.name, device.driver);
  }
  return text;
}

// A table, in which a cell can't imitate another line: the bundle's texts come from strangers.
std::string TextOf(const BundleInspection& bundle) {
  TextTable table({"", ""});
  table.AddRow({"bundle", bundle.bundle});
  table.AddRow({"signed by", !bundle.signed_by.empty() ? bundle.signed_by
                             : bundle.key_id.empty()   ? "no trusted key"
                                                       : bundle.key_id + ", which is not among the trusted keys"});
  table.AddRow({"made by", "Hearth " + bundle.made_by});
  table.AddRow({"holds", fmt::format("{} entries, {}", bundle.entries, BytesText(bundle.blob_bytes))});
  for (const auto& [kind, stats] : bundle.kinds) {
    table.AddRow({"  " + kind, fmt::format("{}, {}", stats.entries, BytesText(stats.blob_bytes))});
  }
  for (const CacheDevice& device : bundle.devices) {
    table.AddRow({"for", fmt::format("{} {}, driver {}", device.backend, device.name, device.driver)});
  }
  table.AddRow({"manifest", Short(bundle.manifest_sha256)});
  if (bundle.expires_ms != 0) table.AddRow({"until", TimeText(bundle.expires_ms)});
  if (!bundle.least_version.empty()) table.AddRow({"for", fmt::format("Hearth {} or newer", bundle.least_version)});
  if (!bundle.refusal.empty()) table.AddRow({"refused", bundle.refusal});
  for (const CacheDamage& damage : bundle.damages) table.AddRow({"damaged", damage.where + ": " + damage.what});
  return table.ToString();
}

std::string TextOf(const BundleImport& bundle) {
  std::string text = fmt::format("{} entries stored, {}", bundle.entries, BytesText(bundle.blob_bytes));
  if (bundle.quarantined > 0) {
    text += fmt::format(", {} in quarantine until {} (`hearth cache clear --quarantine` lifts that)",
                        bundle.quarantined, TimeText(bundle.quarantined_until_ms));
  }
  text += bundle.signed_by.empty() ? "; not signed by a trusted key\n" : "; signed by " + bundle.signed_by + "\n";
  if (bundle.other_devices > 0) {
    text += fmt::format("{} native programs for other devices or drivers were left out\n", bundle.other_devices);
  }
  return text;
}

Result<ExitCode> WriteAnswer(const OutputOptions& output, const std::string& text, const std::string& json,
                             ExitCode code) {
  output.PrintText(text);
  HEARTH_TRY(output.WriteJson(Json::parse(json)));
  return code;
}

Result<int64_t> ParseAgeMs(std::string_view text) {
  int64_t number = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view unit(parsed.ptr, static_cast<size_t>(text.data() + text.size() - parsed.ptr));
  const int64_t seconds = unit == "d" ? 86400 : unit == "h" ? 3600 : unit == "m" ? 60 : unit == "s" ? 1 : 0;
  if (parsed.ec != std::errc() || seconds == 0 || number < 0 || number > 1000000000) {
    return Error(StatusCode::kInvalidArgument, "'{}' is not an age: give a number with d, h, m or s, like 30d", text);
  }
  return number * seconds * 1000;
}

CLI::Validator Age(int64_t least_s) {
  return Passes([least_s](std::string_view text) {
    if (text.empty()) return Status::Ok();  // refused for every option
    HEARTH_ASSIGN(const int64_t age_ms, ParseAgeMs(text));
    if (age_ms >= least_s * 1000) return Status::Ok();
    return Error(StatusCode::kInvalidArgument, "'{}' is too short: give at least {}s", text, least_s);
  });
}

}  // namespace hearth
