// Bundles: entries with a manifest, for another machine or as a read-only layer.
//
// A bundle is a folder with hearth.db (no write-ahead log), manifest.txt (manifest.h) and, when signed, manifest.sig
// (an Ed25519 signature of manifest.txt in hex); or one file (bundle_file.h); equal entries make an equal file. Both
// have the same manifest.
#ifndef HEARTH_CACHE_BUNDLE_H_
#define HEARTH_CACHE_BUNDLE_H_

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cache/revocations.h"
#include "cache/signature.h"
#include "hearth/cache_types.h"
#include "hearth/status.h"

namespace hearth {

struct ExportRequest {
  std::filesystem::path store;   // folder
  std::filesystem::path bundle;  // a file where the name ends in ".tar", else a folder; missing, or an empty folder
  CacheFilter filter;
  std::optional<SigningKey> sign_with;
  std::string made_by;        // Hearth's version
  int64_t made_ms = 0;        // since 1970; told only with expires_ms
  int64_t expires_ms = 0;     // since 1970; 0: never
  std::string least_version;  // of the Hearth that may use it; empty: any
  // An earlier bundle, whose entries with the same bytes are left out. It is checked as an import would check it:
  // complete, not expired, and, if keys are given (`sign_with` always counts), signed by one of them. Empty: nothing is
  // left out.
  std::filesystem::path since;
  std::vector<PublicKey> trusted_keys;
};
// Damaged entries of the store are left out and counted. A failed export leaves nothing behind.
Result<BundleExport> ExportBundle(const ExportRequest& request);

struct ImportRequest {
  std::filesystem::path bundle;
  std::filesystem::path store;  // folder; made if it is missing
  uint64_t max_bytes = 0;       // of the store
  bool is_trusted = false;      // accept entries that no trusted key signed
  std::vector<PublicKey> trusted_keys;
  // The revocations in the store before the keys were read (StoreOptions::revocations).
  std::optional<KnownRevocations> revocations;
  // Whether to import native entries for this device; empty: import all.
  std::function<bool(const CacheDevice&)> is_wanted;
};
// Checks everything before it stores anything. kIoError: no trusted key signed the bundle, or something does not match
// the manifest; the message says what. kNotFound: there is no bundle.
Result<BundleImport> ImportBundle(const ImportRequest& request);

}  // namespace hearth

#endif  // HEARTH_CACHE_BUNDLE_H_
