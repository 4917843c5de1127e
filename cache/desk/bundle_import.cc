#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cache/desk/bundle.h"
#include "cache/desk/report_access.h"
#include "cache/sources/bundle_reader.h"
#include "cache/store/entry_row.h"
#include "cache/store/sqlite_store.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "core/plan/tuning.h"
#include "hearth/version.h"

namespace hearth {
namespace {

bool IsWanted(const ImportRequest& request, const Manifest& manifest, const ManifestEntry& entry) {
  if (!IsNativeCode(entry.kind) || !request.is_wanted) return true;
  return entry.device && request.is_wanted(manifest.devices[*entry.device]);
}

// Imported tuning records are added to those of the same origin, and replace those of another: an entry has one origin,
// by which a revocation finds all that its key signed. Returns false if the stored one stays, as it does if it was
// measured here.
bool AddToStored(SqliteStore& store, std::string_view origin, BundleEntry& entry) {
  if (entry.key.kind() != BlobKind::kTuning) return true;
  std::vector<std::byte> stored_bytes;
  FoundEntry found;
  const auto room = [&stored_bytes](uint64_t size_bytes) {
    stored_bytes.resize(size_bytes);
    return std::span<std::byte>(stored_bytes);
  };
  if (store.Get(entry.key, room, found) != EntrySource::Answer::kHit) return true;
  const Result<TuningRecord> stored = TuningRecordFromText(TextFrom(stored_bytes));
  if (!stored.ok() || stored->samples() == 0) return true;
  if (found.origin.empty()) return false;
  const Result<TuningRecord> imported = TuningRecordFromText(TextFrom(entry.bytes));
  if (!imported.ok() || imported->samples() == 0) return false;
  if (found.origin != origin || *stored == *imported) return true;
  const std::string merged = ToText(Merged(*stored, *imported));
  const std::span<const std::byte> bytes = BytesOf(merged);
  entry.bytes.assign(bytes.begin(), bytes.end());
  return true;
}

// Puts entries in batches, and counts what the store takes.
class Importer {
 public:
  Importer(SqliteStore& store, std::string origin, BundleImport& report)
      : store_(store), origin_(std::move(origin)), report_(report) {}

  Status Add(BundleEntry entry) {
    batch_bytes_ += entry.bytes.size();
    batch_.push_back(std::move(entry));
    return batch_bytes_ >= kBatchBytes ? StoreBatch() : Status::Ok();
  }

  // kIoError if some were not stored, kUnavailable if another process kept the store locked.
  Status Finish() {
    HEARTH_TRY(StoreBatch());
    store_.records().Write({.put_errors = failed_, .bytes_written = report_.blob_bytes});
    if (failed_ == 0) return Status::Ok();
    const std::vector<std::string> warnings = store_.TakeWarnings();
    return Error(StatusCode::kIoError, "{} entries could not be stored: {}", failed_,
                 warnings.empty() ? "the store can't be written" : warnings.front());
  }

 private:
  static constexpr uint64_t kBatchBytes = uint64_t{32} << 20;

  Status StoreBatch() {
    std::vector<NewEntry> entries;
    for (const BundleEntry& entry : batch_) {
      entries.push_back(
          {&entry.key, entry.bytes, entry.cost_ms, origin_, entry.key.digest(), FingerprintOf(entry.bytes)});
    }
    std::vector<PutResult> results(entries.size());
    if (!store_.Put(entries, results, 0)) {
      return Error(StatusCode::kUnavailable, "another process keeps the store locked: {} entries could not be stored",
                   entries.size());
    }
    for (size_t k = 0; k < entries.size(); ++k) Count(entries[k], results[k]);
    batch_.clear();
    batch_bytes_ = 0;
    return Status::Ok();
  }

  void Count(const NewEntry& entry, PutResult result) {
    if (result == PutResult::kStored || result == PutResult::kPresent) {
      ++report_.entries;
      report_.blob_bytes += entry.bytes.size();
    } else if (result == PutResult::kBarred) {
      ++report_.quarantined;
      report_.quarantined_until_ms =
          std::max(report_.quarantined_until_ms, store_.marks().EndOfQuarantineMs(entry.digest));
    } else {
      ++failed_;
    }
  }

  SqliteStore& store_;
  const std::string origin_;
  BundleImport& report_;
  std::vector<BundleEntry> batch_;
  uint64_t batch_bytes_ = 0, failed_ = 0;
};

Status ImportEntries(const ImportRequest& request, BundleReader& bundle, BundleImport& report) {
  const Manifest& manifest = bundle.manifest();
  for (size_t k = 0; k < manifest.entries.size(); ++k) HEARTH_TRY(bundle.Check(k).status());
  StoreOptions options;
  SessionWaits waits(kReportWaitMs);
  options.waits = &waits;
  options.folder = request.store;
  options.revocations = request.revocations;
  if (request.max_bytes > 0) options.max_bytes = request.max_bytes;
  HEARTH_ASSIGN(const std::unique_ptr<SqliteStore> target, SqliteStore::Open(options));
  SessionRecords& records = target->records();
  // The open store tells the latest time even where others lock it meanwhile.
  HEARTH_TRY(manifest.CheckUsable(NowMs(), HEARTH_VERSION, records.LatestTimeMs()).Within(request.bundle.string()));
  // Anybody could write a time into an unsigned manifest. A time after the expiry is a signer's wrong clock.
  if (!report.signed_by.empty() && manifest.made_ms < manifest.expires_ms) records.SeeTime(manifest.made_ms);
  const std::string origin = BundleOrigin(report.signed_by);
  Importer importer(*target, origin, report);
  uint64_t left_as_they_are = 0;
  for (size_t k = 0; k < manifest.entries.size(); ++k) {
    if (!IsWanted(request, manifest, manifest.entries[k])) {
      ++report.other_devices;
      continue;
    }
    HEARTH_ASSIGN(BundleEntry entry, bundle.Load(k));  // the same bytes that are stored
    if (AddToStored(*target, origin, entry)) {
      HEARTH_TRY(importer.Add(std::move(entry)));
    } else {
      ++left_as_they_are;
    }
  }
  HEARTH_TRY(importer.Finish());
  if (left_as_they_are > 0) {
    report.warnings.push_back(fmt::format(
        "{} tuning records were left out: the cache has better ones of the same layers, such as those measured here",
        left_as_they_are));
  }
  return Status::Ok();
}

}  // namespace

Result<BundleImport> ImportBundle(const ImportRequest& request) {
  BundleImport report;
  HEARTH_ASSIGN(BundleReader bundle, BundleReader::Open(request.bundle, request.trusted_keys));
  report.signed_by = bundle.signed_by();
  // This holds for every kind: programs run, plans decide what is read and written, weights and tuning change results.
  if (!bundle.manifest().entries.empty() && report.signed_by.empty() && !request.is_trusted) {
    return Error(StatusCode::kIoError,
                 "{} has {} entries that no trusted key has signed, and models would run with them: name the file of "
                 "the keys that you trust (--keys), or trust this bundle (--trust){}",
                 request.bundle.string(), bundle.manifest().entries.size(), WhyNoSignatures());
  }
  HEARTH_TRY(ImportEntries(request, bundle, report));
  return report;
}

}  // namespace hearth
