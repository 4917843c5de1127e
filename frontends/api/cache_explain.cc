// Explains which entries a start finds, and why it misses the others.
#include <fmt/chrono.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <set>

#include "cache/desk/reports.h"
#include "cache/store/last_misses.h"
#include "core/base/contains.h"
#include "core/base/error.h"
#include "core/plan/key_fields.h"
#include "core/store/entry_links.h"
#include "hearth/cache.h"
#include "runtime/plans/open_cache.h"

namespace hearth {
namespace {

std::string ReasonOf(const CacheNeed& need, const std::string& store_trouble) {
  if (!store_trouble.empty()) return store_trouble;
  if (need.nearest_digest.empty()) return fmt::format("the cache holds no {} like it", need.kind);
  if (need.differences.empty()) return "the entry exists, but is damaged, refused or in quarantine";
  std::vector<std::string> parts;
  for (const CacheKeyDifference& difference : need.differences) {
    if (!Contains(parts, difference.part)) parts.push_back(difference.part);
  }
  std::string reason = "differs from the nearest in ";
  for (size_t k = 0; k < parts.size(); ++k) reason += (k == 0 ? "" : ", ") + parts[k];
  return reason;
}

// Another driver, option or version is near, and so is another content of the same file. A model of other inputs,
// another kernel or device is not: its differences explain nothing.
bool IsNear(const CacheNeed& need, const std::vector<CacheKeyDifference>& differences, bool is_new_model) {
  const bool is_other_model = Contains(differences, kModelField.name, &CacheKeyDifference::field);
  if (is_new_model && is_other_model && differences.size() > 1) return false;
  return differences.size() <= std::max<size_t>(2, need.fields.size() / 4);
}

void CompareWithNearest(CacheNeed& need, const std::vector<CacheEntry>& entries, const std::string& store_trouble,
                        bool is_new_model) {
  if (need.is_hit) return;
  auto nearest = FindNearestEntry(entries, need.kind, need.fields);
  if (nearest && IsNear(need, nearest->differences, is_new_model)) {
    need.nearest_digest = nearest->entry->digest;
    need.differences = std::move(nearest->differences);
  }
  need.reason = ReasonOf(need, store_trouble);
}

// Names quarantine as the reason of a miss, which no difference of keys explains.
void NameQuarantine(const std::vector<CacheQuarantine>& quarantine, std::vector<CacheNeed>& needs) {
  for (CacheNeed& need : needs) {
    const auto record = std::ranges::find(quarantine, need.digest, &CacheQuarantine::digest);
    if (need.is_hit || record == quarantine.end()) continue;
    need.reason =
        fmt::format("in quarantine until {:%Y-%m-%d}: {} run{} died using it{}",
                    fmt::gmtime(std::time_t{record->until_ms / 1000}), record->deaths, record->deaths == 1 ? "" : "s",
                    record->is_barred ? "; `hearth cache clear --quarantine` lifts that" : "");
  }
}

bool IsOf(BlobKind kind, const CacheNeed& need) {
  return need.kind == BlobKindName(kind);
}

// The keys of entries that this one names; empty if it is gone.
std::vector<CacheKey> NamedBy(const CacheNeed& need, BlobKind kind, ResultCache& cache) {
  CacheKey key(kind);
  for (const auto& [name, value] : need.fields) key.Add(name, value);
  const auto parse = [](const StoredEntry& entry) -> Result<std::vector<CacheKey>> {
    if (!HasLinks(entry.bytes)) return std::vector<CacheKey>();
    HEARTH_ASSIGN(LinkedEntry linked, LinkedEntryFrom(entry.bytes));
    return std::move(linked.links);
  };
  auto found = cache.FindByKey(key, parse, Misses::kUncounted);
  return found ? std::move(found->value) : std::vector<CacheKey>();
}

// Explains the miss of another plan's binary that a list names because it holds kernels of this plan. Comparing keys
// would explain nothing. A binary asked for before the list, like the self-test's, is needed on its own.
void NameListsOfGoneBinaries(ResultCache& cache, std::vector<CacheNeed>& needs) {
  std::set<std::string> named;  // by an earlier list
  for (const CacheNeed& list : needs) {
    if (!IsOf(BlobKind::kProgramList, list) || !list.is_hit) continue;
    for (const CacheKey& key : NamedBy(list, BlobKind::kProgramList, cache)) {
      const std::string digest = key.digest().ToHex();
      const auto binary = std::ranges::find(needs, digest, &CacheNeed::digest);
      if (binary == needs.end() || binary->is_hit || &*binary < &list || !named.insert(digest).second) continue;
      binary->nearest_digest = list.digest;
      binary->differences.clear();
      binary->reason = fmt::format(
          "entry {:.12} says that this one, made for another plan, holds programs of this plan; it was evicted, "
          "removed or left out of a bundle",
          list.digest);
    }
  }
}

// Explains the miss of a program whose entry is there, but not the portable part that it needs.
void NameProgramsOfGoneSources(ResultCache& cache, std::vector<CacheNeed>& needs) {
  for (CacheNeed& program : needs) {
    if (!IsOf(BlobKind::kProgram, program) || program.is_hit) continue;
    for (const CacheKey& needed : NamedBy(program, BlobKind::kProgram, cache)) {
      const auto source = std::ranges::find(needs, needed.digest().ToHex(), &CacheNeed::digest);
      if (source == needs.end() || source->is_hit) continue;
      program.reason = fmt::format("the entry exists, but needs the {} {:.12}", source->kind, source->digest);
      if (source->nearest_digest == source->digest) continue;  // it is there, but damaged
      source->nearest_digest = program.digest;
      source->differences.clear();
      source->reason =
          fmt::format("entry {:.12}, a {}, needs this one; it was evicted, removed or left out of a bundle",
                      program.digest, program.kind);
    }
  }
}

// Explains misses of programs that entries of the cache lead to.
void NameWhatEntriesNeed(const SessionOptions& options, std::vector<CacheNeed>& needs) {
  const auto is_gone = [](const CacheNeed& need) { return IsOf(BlobKind::kProgram, need) && !need.is_hit; };
  if (std::ranges::none_of(needs, is_gone)) return;
  const OpenedCache cache = OpenCache(options);
  if (cache.store == nullptr) return;
  NameListsOfGoneBinaries(*cache.store, needs);
  NameProgramsOfGoneSources(*cache.store, needs);
}

}  // namespace

uint64_t CacheExplanation::hits() const {
  return static_cast<uint64_t>(std::ranges::count_if(needs, [](const CacheNeed& need) { return need.is_hit; }));
}

Result<CacheExplanation> Cache::Explain(const std::string& model_path, const SessionOptions& options) const {
  CacheExplanation explanation;
  std::set<std::string> seen;
  SessionOptions looking = options;
  looking.use_cache = looking.cache_read_only = true;
  looking.cache_folder = folder_;
  looking.cache_store = nullptr;
  looking.start = "ready";
  looking.on_cache_event = [&](const CacheEvent& event) {
    const bool is_look_up = event.what == CacheEvent::What::kHit || event.what == CacheEvent::What::kMiss;
    if (is_look_up && seen.insert(event.digest).second) {
      CacheNeed need;
      need.kind = event.kind;
      need.digest = event.digest;
      need.is_hit = event.what == CacheEvent::What::kHit;
      need.fields = event.fields;
      explanation.needs.push_back(std::move(need));
    }
    if (event.what != CacheEvent::What::kRejected) return;
    for (CacheNeed& need : explanation.needs) need.is_hit = need.is_hit && need.digest != event.digest;
  };
  HEARTH_ASSIGN(const Session session, Session::Open(model_path, looking));
  const Report& report = session.report();
  explanation.model_path = report.model_path;
  explanation.model_fingerprint = report.model_fingerprint;
  explanation.device = report.device.id;
  explanation.warnings = report.warnings;
  if (const auto models = ListModels(folder_); models.ok()) {
    explanation.has_run = Contains(*models, explanation.model_fingerprint, &CacheModel::fingerprint);
    std::error_code error;
    const std::string path = std::filesystem::absolute(explanation.model_path, error).string();
    explanation.has_changed = !explanation.has_run && Contains(*models, path, &CacheModel::path);
  }
  // A store that is damaged, has another format or is refused has no entries to compare with.
  const Result<std::vector<CacheEntry>> entries = ListEntries(folder_);
  const std::string trouble = entries.ok() ? std::string() : entries.status().message();
  static const std::vector<CacheEntry> kNone;
  for (CacheNeed& need : explanation.needs) {
    CompareWithNearest(need, entries.ok() ? *entries : kNone, trouble,
                       !explanation.has_run && !explanation.has_changed);
  }
  looking.on_cache_event = {};
  looking.model_token.clear();  // the entries' keys have it
  NameWhatEntriesNeed(looking, explanation.needs);
  if (const auto quarantine = ListQuarantine(folder_); quarantine.ok()) NameQuarantine(*quarantine, explanation.needs);
  if (auto misses = ListLastMisses(folder_); misses.ok()) {
    explanation.last_misses = *std::move(misses);
    std::erase_if(explanation.last_misses,
                  [&](const CacheMiss& miss) { return miss.model_fingerprint != explanation.model_fingerprint; });
    // Other devices' misses tell nothing of this one. What devices share has none.
    const std::set<std::string> own = {report.device.name, report.device.backend};
    const auto is_own = [&](const CacheMiss& miss) { return own.contains(miss.device); };
    std::set<int64_t> own_starts;
    for (const CacheMiss& miss : explanation.last_misses)
      if (is_own(miss)) own_starts.insert(miss.when_ms);
    std::erase_if(explanation.last_misses, [&](const CacheMiss& miss) { return !own_starts.contains(miss.when_ms); });
  }
  return explanation;
}

}  // namespace hearth
