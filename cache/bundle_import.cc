#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "cache/batched_puts.h"
#include "cache/bundle.h"
#include "cache/bundle_reader.h"
#include "cache/entry_origin.h"
#include "cache/entry_row.h"
#include "cache/report_access.h"
#include "cache/sqlite_store.h"
#include "core/base/error.h"
#include "core/base/sha256.h"
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
  const auto stored_bytes = store.Get(entry.key);
  if (!stored_bytes) return true;
  const Result<TuningRecord> stored = TuningRecordFromText(TextFrom(*stored_bytes));
  if (!stored.ok() || stored->samples() == 0) return true;
  if (IsMadeHere(&store, entry.key, *stored_bytes)) return false;
  const Result<TuningRecord> imported = TuningRecordFromText(TextFrom(entry.bytes));
  if (!imported.ok() || imported->samples() == 0) return false;
  if (store.OriginOf(entry.key, *stored_bytes) != origin || *stored == *imported) return true;
  const std::string merged = ToText(Merged(*stored, *imported));
  const std::span<const std::byte> bytes = BytesOf(merged);
  entry.bytes.assign(bytes.begin(), bytes.end());
  return true;
}

Status ImportEntries(const ImportRequest& request, BundleReader& bundle, BundleImport& report) {
  const Manifest& manifest = bundle.manifest();
  for (size_t k = 0; k < manifest.entries.size(); ++k) HEARTH_TRY(bundle.Check(k));
  StoreOptions options;
  SessionWaits waits(kReportWaitMs);
  options.waits = &waits;
  options.folder = request.store;
  options.revocations = request.revocations;
  if (request.max_bytes > 0) options.max_bytes = request.max_bytes;
  HEARTH_ASSIGN(const std::unique_ptr<SqliteStore> target, SqliteStore::Open(options));
  // The open store tells the latest time even where others lock it meanwhile.
  HEARTH_TRY(manifest.CheckUsable(NowMs(), HEARTH_VERSION, target->LatestTimeMs()).Within(request.bundle.string()));
  // Anybody could write a time into an unsigned manifest. A time after the expiry is a signer's wrong clock.
  if (!report.signed_by.empty() && manifest.made_ms < manifest.expires_ms) target->SeeTime(manifest.made_ms);
  const std::string origin = BundleOrigin(report.signed_by);
  BatchedPuts puts(*target, origin);
  uint64_t left_as_they_are = 0;
  for (size_t k = 0; k < manifest.entries.size(); ++k) {
    if (!IsWanted(request, manifest, manifest.entries[k])) {
      ++report.other_devices;
      continue;
    }
    HEARTH_ASSIGN(BundleEntry entry, bundle.Load(k));  // the same bytes that are stored
    if (!AddToStored(*target, origin, entry)) {
      ++left_as_they_are;
      continue;
    }
    ++report.entries;
    report.blob_bytes += entry.bytes.size();
    puts.Add(std::move(entry));
  }
  HEARTH_TRY(puts.Finish());
  const BarredPuts barred = target->barred_puts();
  report.entries -= std::min(report.entries, barred.entries);
  report.blob_bytes -= std::min(report.blob_bytes, barred.bytes);
  report.quarantined = barred.entries;
  report.quarantined_until_ms = barred.until_ms;
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
  HEARTH_ASSIGN(const std::unique_ptr<BundleReader> bundle, BundleReader::Open(request.bundle, request.trusted_keys));
  report.signed_by = bundle->signed_by();
  // This holds for every kind: programs run, plans decide what is read and written, weights and tuning change results.
  if (!bundle->manifest().entries.empty() && report.signed_by.empty() && !request.is_trusted) {
    return Error(StatusCode::kIoError,
                 "{} has {} entries that no trusted key has signed, and models would run with them: name the file of "
                 "the keys that you trust (--keys), or trust this bundle (--trust){}",
                 request.bundle.string(), bundle->manifest().entries.size(), WhyNoSignatures());
  }
  HEARTH_TRY(ImportEntries(request, *bundle, report));
  if (const auto& base = bundle->manifest().base) {
    report.since = HexOf(base->manifest_sha256);
    report.left_out = base->left_out;
  }
  return report;
}

}  // namespace hearth
