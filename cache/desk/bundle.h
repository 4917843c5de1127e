// Bundles: files of entries with a manifest (bundle_file.h), for another machine or as a read-only layer. Equal entries
// make an equal file.
#ifndef HEARTH_CACHE_DESK_BUNDLE_H_
#define HEARTH_CACHE_DESK_BUNDLE_H_

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cache/store/revocations.h"
#include "cache/trust/signature.h"
#include "hearth/cache_types.h"
#include "hearth/status.h"

namespace hearth {

struct ExportRequest {
  std::filesystem::path store;   // folder
  std::filesystem::path bundle;  // a file that does not exist, whose name ends in ".tar"
  CacheFilter filter;
  std::optional<SigningKey> sign_with;
  std::string made_by;        // Hearth's version
  int64_t made_ms = 0;        // since 1970; told only with expires_ms
  int64_t expires_ms = 0;     // since 1970; 0: never
  std::string least_version;  // of the Hearth that may use it; empty: any
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

#endif  // HEARTH_CACHE_DESK_BUNDLE_H_
