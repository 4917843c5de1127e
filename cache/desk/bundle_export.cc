#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "cache/desk/bundle.h"
#include "cache/desk/report_access.h"
#include "cache/desk/reports.h"
#include "cache/sources/bundle_reader.h"
#include "cache/store/entry_filter.h"
#include "cache/store/entry_row.h"
#include "cache/trust/envelope.h"
#include "core/base/error.h"
#include "core/base/sha256.h"
#include "core/base/text.h"
#include "core/store/entry_links.h"

namespace hearth {
namespace {

// The verified entry in a row of `kEntryColumns`; nullopt if it is damaged.
std::optional<BundleEntry> LoadSound(Database& database, Statement& row) {
  const std::optional<BlobKind> kind = BlobKindFromName(row.Text(1));
  const std::optional<CacheKey> key = kind ? KeyFromMaterial(*kind, TextFrom(row.Blob(2))) : std::nullopt;
  std::vector<std::byte> bytes;
  if (!key || !DamageOf(database, row, bytes).empty()) return std::nullopt;
  return BundleEntry{*key, std::move(bytes), BoundedCostMs(row.Real(4))};
}

std::vector<std::byte> EnvelopeOf(const BundleEntry& entry) {
  return MakeEnvelope(
      {.key = &entry.key, .bytes = entry.bytes, .cost_ms = entry.cost_ms, .checksum = FingerprintOf(entry.bytes)});
}

ManifestEntry Describe(const BundleEntry& entry, Manifest& manifest) {
  const std::vector<std::byte> envelope = EnvelopeOf(entry);
  ManifestEntry described{entry.key.kind(), entry.key.digest(), envelope.size(), Sha256Of(envelope), {}};
  const auto fields = DecodeKeyMaterial(entry.key.material());
  if (const auto device = fields.ok() ? DeviceOf(*fields) : std::nullopt) {
    const auto found = std::ranges::find(manifest.devices, *device);
    described.device = static_cast<size_t>(found - manifest.devices.begin());
    if (found == manifest.devices.end()) manifest.devices.push_back(*device);
  }
  return described;
}

// What goes into a bundle.
struct BundleContent {
  Manifest& manifest;
  std::set<Fingerprint> digests;                 // of the bundle's entries
  std::map<Fingerprint, Fingerprint> source_of;  // of programs that are of no use without it
  std::map<Fingerprint, std::string> origin_of;  // of what was not made here
  std::set<std::string> revoked_keys = {};       // whose entries are left out
  std::set<Fingerprint> damaged;                 // left out
  std::set<Fingerprint> revoked;                 // left out
  uint64_t without_source = 0;                   // programs left out
  std::map<Fingerprint, uint64_t> blob_bytes;
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

// Adds the entry in a row of `kEntryColumns`.
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
  if (const auto source = NeededBy(entry->key, entry->bytes)) content.source_of.emplace(digest, source->digest());
  content.blob_bytes.emplace(digest, entry->bytes.size());
  content.manifest.entries.push_back(Describe(*entry, content.manifest));
}

// Sources go with the selected programs, whatever else the filter says. A program whose source is gone stays behind.
Status AddSources(Database& database, BundleContent& content) {
  HEARTH_ASSIGN(Statement rows, database.Prepare(std::string(kEntryColumns) + " WHERE digest=?"));
  for (const auto& [program, source] : std::map(content.source_of)) {
    if (content.digests.contains(source)) continue;
    const StatementScope scope(rows);
    HEARTH_ASSIGN(const bool row, rows.Bind(0, source.bytes).Step());
    if (row) AddEntry(database, rows, content);
  }
  content.without_source = std::erase_if(content.manifest.entries, [&](const ManifestEntry& entry) {
    const auto needed = content.source_of.find(entry.digest);
    return needed != content.source_of.end() && !content.digests.contains(needed->second);
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
  HEARTH_ASSIGN(Statement rows, database.Prepare(std::string(kEntryColumns) + " ORDER BY digest"));
  HEARTH_TRY(rows.ForEachRow([&] {
    if (Matches(EntryFrom(rows), filter)) AddEntry(database, rows, content);
  }));
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

void CountEntries(const BundleContent& content, BundleExport& report) {
  report.entries = content.manifest.entries.size();
  for (const ManifestEntry& entry : content.manifest.entries) {
    report.blob_bytes += content.blob_bytes.at(entry.digest);
    report.native_entries += IsNativeCode(entry.kind);
  }
}

Status CopyEntries(const Manifest& manifest, Database& database, BundleFileWriter& writer) {
  HEARTH_ASSIGN(Statement rows, database.Prepare(std::string(kEntryColumns) + " WHERE digest=?"));
  for (const ManifestEntry& promised : manifest.entries) {
    const StatementScope scope(rows);
    HEARTH_ASSIGN(const bool row, rows.Bind(0, promised.digest.bytes).Step());
    const std::optional<BundleEntry> entry = row ? LoadSound(database, rows) : std::nullopt;
    const std::vector<std::byte> envelope = entry ? EnvelopeOf(*entry) : std::vector<std::byte>();
    if (Sha256Of(envelope) != promised.sha256) {
      return Error(StatusCode::kIoError, "entry {} changed while it was exported", promised.digest.ToHex());
    }
    HEARTH_TRY(writer.AddEntry(promised.digest, envelope));
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
  report.signed_by = HexOf(public_key);
  texts.signature = HexOf(signature) + " " + report.signed_by + "\n";
  return texts;
}

// A mistyped folder would else make a bundle of nothing.
Status NothingToExport(const std::filesystem::path& folder) {
  return Error(StatusCode::kNotFound,
               "there is no cache in {}, so there is nothing to export: name its folder (--cache), or fill it first "
               "(`hearth cache warm MODEL`)",
               folder.string());
}

Status FillBundle(const ExportRequest& request, BundleFileWriter& writer, BundleExport& report) {
  Manifest manifest;
  manifest.made_by = request.made_by;
  manifest.expires_ms = request.expires_ms;
  // A clock before 1970 tells no time, and no manifest may have one that is negative.
  if (manifest.expires_ms != 0) manifest.made_ms = std::max<int64_t>(0, request.made_ms);
  manifest.least_version = request.least_version;
  HEARTH_ASSIGN(ReportedStore source, OpenForReport(request.store));
  if (!source.database) return NothingToExport(request.store);
  HEARTH_TRY(source.database->Run("BEGIN"));  // so that the manifest describes what is copied
  BundleContent content{manifest};
  if (request.sign_with) HEARTH_TRY(OfStore(source, FindRevokedKeys(*source.database, content)));
  HEARTH_TRY(OfStore(source, DescribeEntries(request.filter, *source.database, content)));
  report.damaged_entries = content.damaged.size();
  report.programs_without_source = content.without_source;
  CountOthers(content, report);
  CountEntries(content, report);
  report.devices = manifest.devices;
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
  if (request.bundle.extension() != kBundleFileSuffix) {
    return Error(StatusCode::kInvalidArgument,
                 "a bundle is one file, whose name ends in {0}, and no folder: name it {1}{0}", kBundleFileSuffix,
                 request.bundle.string());
  }
  HEARTH_ASSIGN(BundleFileWriter writer, BundleFileWriter::Create(request.bundle));
  HEARTH_TRY(FillBundle(request, writer, report).Within(report.folder));
  return report;
}

}  // namespace hearth
