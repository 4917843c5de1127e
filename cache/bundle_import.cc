#include <algorithm>

#include "cache/batched_puts.h"
#include "cache/bundle.h"
#include "cache/bundle_reader.h"
#include "cache/entry_origin.h"
#include "cache/entry_row.h"
#include "cache/report_access.h"
#include "cache/sqlite_store.h"
#include "core/base/error.h"
#include "core/base/sha256.h"
#include "core/base/text_bytes.h"
#include "core/plan/tuning.h"
#include "hearth/version.h"

namespace hearth {
namespace {

bool IsWanted(const ImportRequest& request, const Manifest& manifest, const ManifestEntry& entry) {
  if (!IsNativeCode(entry.kind) || !request.is_wanted) return true;
  return entry.device && request.is_wanted(manifest.devices[*entry.device]);
}

// Imported tuning records are added to those measured here.
void AddToStored(SqliteStore& store, BundleEntry& entry) {
  if (entry.key.kind() != BlobKind::kTuning) return;
  const auto stored_bytes = store.Get(entry.key);
  if (!stored_bytes) return;
  const Result<TuningRecord> stored = TuningRecordFromText(TextFrom(*stored_bytes));
  const Result<TuningRecord> imported = TuningRecordFromText(TextFrom(entry.bytes));
  if (!stored.ok() || !imported.ok() || *stored == *imported) return;
  const std::string merged = ToText(Merged(*stored, *imported));
  const std::span<const std::byte> bytes = BytesOf(merged);
  entry.bytes.assign(bytes.begin(), bytes.end());
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
  BatchedPuts puts(*target, BundleOrigin(report.signed_by));
  for (size_t k = 0; k < manifest.entries.size(); ++k) {
    if (!IsWanted(request, manifest, manifest.entries[k])) {
      ++report.other_devices;
      continue;
    }
    HEARTH_ASSIGN(BundleEntry entry, bundle.Load(k));  // the same bytes that are stored
    AddToStored(*target, entry);
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
