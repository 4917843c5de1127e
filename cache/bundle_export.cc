#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "cache/bundle.h"
#include "cache/bundle_reader.h"
#include "cache/bundle_writer.h"
#include "cache/entry_filter.h"
#include "cache/entry_row.h"
#include "cache/latest_time.h"
#include "cache/needed_source.h"
#include "cache/report_access.h"
#include "cache/reports.h"
#include "core/base/error.h"
#include "core/base/sha256.h"
#include "core/base/text.h"

namespace hearth {
namespace {

ManifestEntry Describe(const BundleEntry& entry, Manifest& manifest) {
  ManifestEntry described;
  described.kind = entry.key.kind();
  described.digest = entry.key.digest();
  described.size_bytes = entry.bytes.size();
  described.blob_sha256 = Sha256Of(entry.bytes);
  described.material_sha256 = Sha256Of(BytesOf(entry.key.material()));
  described.material_bytes = entry.key.material().size();
  described.cost_ms = entry.cost_ms;
  const auto fields = DecodeKeyMaterial(entry.key.material());
  if (const auto device = fields.ok() ? DeviceOf(*fields) : std::nullopt) {
    const auto found = std::ranges::find(manifest.devices, *device);
    described.device = static_cast<size_t>(found - manifest.devices.begin());
    if (found == manifest.devices.end()) manifest.devices.push_back(*device);
  }
  return described;
}

// Whoever has the base must have the entries that the delta leaves out. A base that is wrong, or that imports refuse,
// would leave its users without them.
Status CheckBase(const ExportRequest& request, std::span<const PublicKey> keys, BundleReader& base) {
  HEARTH_TRY(base.manifest().CheckUsable(NowMs(), request.made_by, LatestTimeMsIn(request.store)));
  if (!keys.empty() && base.signed_by().empty()) {
    return Error(StatusCode::kIoError,
                 "no trusted key has signed it, so the users of the new bundle may lack the entries that it leaves "
                 "out: name the file of the key that signed it (--keys), or export everything (without --since){}",
                 WhyNoSignatures());
  }
  for (size_t k = 0; k < base.manifest().entries.size(); ++k) HEARTH_TRY(base.Check(k));
  return Status::Ok();
}

// The SHA-256 of the base's blobs, by entry; also sets the base in `manifest`.
using KnownBlobs = std::map<Fingerprint, std::array<uint8_t, 32>>;
Result<KnownBlobs> BlobsOfBase(const ExportRequest& request, Manifest& manifest) {
  KnownBlobs known;
  if (request.since.empty()) return known;
  std::vector<PublicKey> keys = request.trusted_keys;
  if (request.sign_with) {
    HEARTH_ASSIGN(keys.emplace_back(), PublicKeyOf(*request.sign_with));
  }
  HEARTH_ASSIGN(const std::unique_ptr<BundleReader> base, BundleReader::Open(request.since, keys));
  HEARTH_TRY(CheckBase(request, keys, *base).Within(request.since.string()));
  for (const ManifestEntry& entry : base->manifest().entries) known.emplace(entry.digest, entry.blob_sha256);
  manifest.base = ManifestBase{base->manifest_sha256(), 0};
  return known;
}

// What goes into a bundle.
struct BundleContent {
  Manifest& manifest;
  const KnownBlobs& known;                       // what the base has
  std::set<Fingerprint> digests;                 // of the bundle's entries and the base's
  std::map<Fingerprint, Fingerprint> source_of;  // of programs that are of no use without it
  std::map<Fingerprint, std::string> origin_of;  // of what was not made here
  std::set<std::string> revoked_keys = {};       // whose entries are left out
  std::set<Fingerprint> damaged;                 // left out
  std::set<Fingerprint> revoked;                 // left out
  uint64_t without_source = 0;                   // programs left out
};

// `keys` may be first digits of keys.
bool IsOfOneOf(const std::set<std::string>& keys, std::string_view origin) {
  const std::string_view signer = SignerIn(origin);
  return !signer.empty() && std::ranges::any_of(keys, [&](const std::string& key) { return signer.starts_with(key); });
}

// Whoever signs a bundle vouches for all of it, and importers then know no other signer of what others have made. So
// what a revoked key has signed is not signed anew.
Status FindRevokedKeys(Database& database, BundleContent& content) {
  HEARTH_ASSIGN(const KnownRevocations known, ReadRevocations(database));
  for (const auto& [key, number] : known.of_keys) content.revoked_keys.insert(key);
  return Status::Ok();
}

// Adds the entry in a row of `kBundleColumns`.
void AddEntry(Database& database, Statement& row, BundleContent& content) {
  const std::optional<BundleEntry> entry = LoadSound(database, row);
  if (!entry) {
    content.damaged.insert(FingerprintFrom(row.Blob(0)));
    return;
  }
  const Fingerprint digest = entry->key.digest();
  const std::string origin(row.Text(8));
  if (IsOfOneOf(content.revoked_keys, origin)) {
    content.revoked.insert(digest);
    return;
  }
  if (!origin.empty()) content.origin_of.emplace(digest, origin);
  content.digests.insert(digest);
  if (const auto source = SourceNeededBy(entry->key, entry->bytes)) content.source_of.emplace(digest, source->digest());
  const auto found = content.known.find(digest);
  if (found != content.known.end() && found->second == Sha256Of(entry->bytes)) {
    ++content.manifest.base->left_out;
  } else {
    content.manifest.entries.push_back(Describe(*entry, content.manifest));
  }
}

// Sources go with the selected programs, whatever else the filter says. A program whose source is gone stays behind.
Status AddSources(Database& database, BundleContent& content) {
  HEARTH_ASSIGN(Statement rows, database.Prepare(std::string(kBundleColumns) + " WHERE digest=?"));
  for (const auto& [program, source] : std::map(content.source_of)) {
    if (content.digests.contains(source)) continue;
    const StatementScope scope(rows);
    HEARTH_ASSIGN(const bool row, rows.Bind(0, source.bytes).Step());
    if (row) AddEntry(database, rows, content);
  }
  content.without_source = std::erase_if(content.manifest.entries, [&](const ManifestEntry& entry) {
    const auto needed = content.source_of.find(entry.digest);
    return needed != content.source_of.end() && !content.digests.contains(needed->second) &&
           !content.known.contains(needed->second);
  });
  return Status::Ok();
}

// Leaves the devices that entries name, in the entries' order: some were only those of entries that stay behind.
void KeepUsedDevices(Manifest& manifest) {
  const std::vector<CacheDevice> all = std::exchange(manifest.devices, {});
  std::map<size_t, size_t> number_of;  // by the index in `all`
  for (ManifestEntry& entry : manifest.entries) {
    if (!entry.device) continue;
    const auto [number, is_new] = number_of.emplace(*entry.device, manifest.devices.size());
    if (is_new) manifest.devices.push_back(all[*entry.device]);
    entry.device = number->second;
  }
}

// Sorted by digest, whatever the order of the store, so that equal entries make equal bundles.
Status DescribeEntries(const CacheFilter& filter, Database& database, BundleContent& content) {
  HEARTH_ASSIGN(Statement rows, database.Prepare(std::string(kBundleColumns) + " ORDER BY digest"));
  while (true) {
    HEARTH_ASSIGN(const bool row, rows.Step());
    if (!row) break;
    if (Matches(EntryFrom(rows), filter)) AddEntry(database, rows, content);
  }
  HEARTH_TRY(AddSources(database, content));
  std::ranges::sort(content.manifest.entries, {}, &ManifestEntry::digest);
  KeepUsedDevices(content.manifest);
  return Status::Ok();
}

void CountOthers(const BundleContent& content, BundleExport& report) {
  std::set<std::string> keys;
  for (const ManifestEntry& entry : content.manifest.entries) {
    const auto origin = content.origin_of.find(entry.digest);
    if (origin == content.origin_of.end()) continue;
    ++report.from_others;
    if (const std::string_view signer = SignerIn(origin->second); !signer.empty()) keys.emplace(signer);
  }
  report.other_keys.assign(keys.begin(), keys.end());
  report.revoked_entries = content.revoked.size();
}

void CountEntries(const Manifest& manifest, BundleExport& report) {
  report.entries = manifest.entries.size();
  for (const ManifestEntry& entry : manifest.entries) {
    report.blob_bytes += entry.size_bytes;
    report.native_entries += IsNativeCode(entry.kind);
  }
}

Status CopyEntries(const Manifest& manifest, Database& database, BundleWriter& writer) {
  HEARTH_ASSIGN(Statement rows, database.Prepare(std::string(kBundleColumns) + " WHERE digest=?"));
  for (const ManifestEntry& promised : manifest.entries) {
    const StatementScope scope(rows);
    HEARTH_ASSIGN(const bool row, rows.Bind(0, promised.digest.bytes).Step());
    std::optional<BundleEntry> entry = row ? LoadSound(database, rows) : std::nullopt;
    if (!entry || Sha256Of(entry->bytes) != promised.blob_sha256) {
      return Error(StatusCode::kIoError, "entry {} changed while it was exported", promised.digest.ToHex());
    }
    HEARTH_TRY(writer.Add(*std::move(entry)));
  }
  return Status::Ok();
}

Result<BundleTexts> TextsOf(const Manifest& manifest, const std::optional<SigningKey>& key, BundleExport& report) {
  BundleTexts texts{manifest.ToText(), {}};
  if (texts.manifest.size() > kMaxManifestBytes || manifest.devices.size() > kMaxDevices) {
    return Error(StatusCode::kInvalidArgument,
                 "{} entries for {} devices do not fit a bundle: export them in parts (--kind, --device)",
                 manifest.entries.size(), manifest.devices.size());
  }
  if (!key) return texts;
  HEARTH_ASSIGN(const Signature signature, Sign(*key, BytesOf(texts.manifest)));
  HEARTH_ASSIGN(const PublicKey public_key, PublicKeyOf(*key));
  texts.signature = HexOf(signature) + "\n";
  report.signed_by = HexOf(public_key);
  return texts;
}

// A mistyped folder would else make a bundle of nothing.
Status NothingToExport(const std::filesystem::path& folder) {
  return Error(StatusCode::kNotFound,
               "there is no cache in {}, so there is nothing to export: name its folder (--cache), or fill it first "
               "(`hearth cache warm MODEL`)",
               folder.string());
}

Status FillBundle(const ExportRequest& request, BundleWriter& writer, BundleExport& report) {
  Manifest manifest;
  manifest.made_by = request.made_by;
  manifest.expires_ms = request.expires_ms;
  // A clock before 1970 tells no time, and no manifest may have one that is negative.
  if (manifest.expires_ms != 0) manifest.made_ms = std::max<int64_t>(0, request.made_ms);
  manifest.least_version = request.least_version;
  HEARTH_ASSIGN(const KnownBlobs known, BlobsOfBase(request, manifest));
  HEARTH_ASSIGN(ReportedStore source, OpenForReport(request.store));
  if (!source.database) return NothingToExport(request.store);
  HEARTH_TRY(source.database->Run("BEGIN"));  // so that the manifest describes what is copied
  BundleContent content{manifest, known};
  if (request.sign_with) HEARTH_TRY(OfStore(source, FindRevokedKeys(*source.database, content)));
  HEARTH_TRY(OfStore(source, DescribeEntries(request.filter, *source.database, content)));
  report.damaged_entries = content.damaged.size();
  report.programs_without_source = content.without_source;
  CountOthers(content, report);
  CountEntries(manifest, report);
  report.devices = manifest.devices;
  report.left_out = manifest.base ? manifest.base->left_out : 0;
  HEARTH_ASSIGN(const BundleTexts texts, TextsOf(manifest, request.sign_with, report));
  HEARTH_TRY(writer.AddTexts(texts));
  HEARTH_TRY(AsDamageOfStore(CopyEntries(manifest, *source.database, writer)));
  return writer.Finish();
}

}  // namespace

Result<BundleExport> ExportBundle(const ExportRequest& asked) {
  ExportRequest request = asked;
  HEARTH_ASSIGN(request.filter, CheckedFilter(asked.filter));
  if (request.expires_ms < 0) {
    return Error(StatusCode::kInvalidArgument, "the bundle would expire before 1970: set this machine's clock");
  }
  BundleExport report;
  report.folder = request.bundle.string();
  HEARTH_ASSIGN(const std::unique_ptr<BundleWriter> writer, BundleWriter::Create(request.bundle));
  HEARTH_TRY(FillBundle(request, *writer, report).Within(report.folder));
  return report;
}

}  // namespace hearth
